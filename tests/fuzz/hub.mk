# SPDX-License-Identifier: Apache-2.0
FUZZ += record container
fuzz_record_SRCS := symbolizerd/hub/record.c
fuzz_container_SRCS := common/container.c
