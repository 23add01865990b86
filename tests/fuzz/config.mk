# SPDX-License-Identifier: Apache-2.0
FUZZ += config
fuzz_config_SRCS := cli/config/config.c cli/config/env.c cli/config/file.c cli/config/keys.c cli/config/places.c \
	cli/config/suggest.c \
	common/pairs.c common/listen.c common/number.c common/log.c
