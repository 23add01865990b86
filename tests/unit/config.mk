# SPDX-License-Identifier: Apache-2.0
CONFIG := cli/config/config.c cli/config/env.c cli/config/file.c cli/config/keys.c cli/config/places.c cli/config/suggest.c common/pairs.c \
	common/listen.c common/number.c
UNIT += config_file config config_places transfer reload
unit_config_file_SRCS := cli/config/file.c
unit_config_SRCS := $(CONFIG) common/log.c
unit_config_places_SRCS := $(CONFIG) common/log.c
# with a test double of console.c
unit_reload_SRCS := cli/front/reload.c $(CONFIG) common/log.c
unit_transfer_SRCS := cli/config/transfer.c $(CONFIG) common/log.c
