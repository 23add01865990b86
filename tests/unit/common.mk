# SPDX-License-Identifier: Apache-2.0
UNIT += wire
unit_wire_SRCS := common/wire.c
