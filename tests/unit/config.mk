# SPDX-License-Identifier: Apache-2.0
CONFIG := cli/config.c cli/config_env.c cli/config_file.c cli/config_keys.c exporterd/pairs.c \
	viewer/listen.c
UNIT += config_file config
unit_config_file_SRCS := cli/config_file.c
unit_config_SRCS := $(CONFIG) common/log.c
