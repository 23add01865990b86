# SPDX-License-Identifier: Apache-2.0
DIFF := cli/folded_read.c cli/diff_rows.c cli/diff_html.c cli/diff.c cli/json.c cli/outfile.c \
	common/log.c
UNIT += folded_read diff
unit_folded_read_SRCS := $(DIFF) $(CLI_FORMATS)
unit_folded_read_LIBS := $(CLI_FORMATS_LIBS)
unit_diff_SRCS := $(DIFF) $(CLI_FORMATS)
unit_diff_LIBS := $(CLI_FORMATS_LIBS)
