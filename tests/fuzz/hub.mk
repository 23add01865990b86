# SPDX-License-Identifier: Apache-2.0
FUZZ += record container tables file_policy
fuzz_record_SRCS := $(unit_managed_SRCS)
fuzz_record_LIBS := -lxxhash
fuzz_container_SRCS := common/container.c
fuzz_tables_SRCS := $(wildcard symbolizerd/tables/*.c) ipc/sealed.c common/hash_table.c
fuzz_tables_LIBS := -lxxhash
fuzz_file_policy_SRCS := $(fuzz_tables_SRCS)
fuzz_file_policy_LIBS := -lxxhash
