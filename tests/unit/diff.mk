# SPDX-License-Identifier: Apache-2.0
DIFF := cli/convert/folded_read.c common/number.c cli/diff/rows.c cli/diff/html.c profile/outfile.c common/read_all.c \
	common/log.c
UNIT += folded_read diff
unit_folded_read_SRCS := $(DIFF) $(CLI_FORMATS)
unit_folded_read_LIBS := $(CLI_FORMATS_LIBS)
unit_diff_SRCS := $(DIFF) $(CLI_FORMATS)
unit_diff_LIBS := $(CLI_FORMATS_LIBS)

UNIT += from_folded
unit_from_folded_SRCS := cli/convert/from_folded.c cli/convert/folded_read.c common/number.c $(CLI_FORMATS)
unit_from_folded_LIBS := $(CLI_FORMATS_LIBS)
