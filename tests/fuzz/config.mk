# SPDX-License-Identifier: Apache-2.0
FUZZ += config
fuzz_config_SRCS := cli/config.c cli/config_env.c cli/config_file.c cli/config_keys.c \
	exporterd/pairs.c viewer/listen.c common/log.c
