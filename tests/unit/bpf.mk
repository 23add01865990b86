# SPDX-License-Identifier: Apache-2.0
UNIT += unwind
UNIT += tables
unit_tables_SRCS := loaderd/tables.c
unit_tables_LIBS := -lbpf
UNIT += files
unit_files_SRCS := loaderd/files.c loaderd/tables.c ipc/sealed.c ipc/message.c \
	ipc/conn.c common/log.c
unit_files_LIBS := -lbpf
