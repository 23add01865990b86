# SPDX-License-Identifier: Apache-2.0
UNIT += unwind
UNIT += tables
unit_tables_SRCS := loaderd/tables.c
unit_tables_LIBS := -lbpf
