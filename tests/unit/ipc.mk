# SPDX-License-Identifier: Apache-2.0
UNIT += message conn sealed batch batch_strings counters service log evloop \
	sandbox seccomp confinement protocol
unit_message_SRCS := ipc/message.c ipc/rules.c
unit_conn_SRCS := ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c
unit_sealed_SRCS := ipc/sealed.c
unit_batch_SRCS := ipc/batch.c ipc/batch_build.c common/hash_table.c
unit_batch_LIBS := -lxxhash -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
unit_batch_strings_SRCS := $(unit_batch_SRCS)
unit_batch_strings_LIBS := -lxxhash
unit_counters_SRCS := ipc/counters.c
unit_service_SRCS := common/service.c common/send_fds.c common/number.c
unit_log_SRCS := common/log.c
unit_log_LIBS := -Wl,--wrap=clock_gettime
unit_evloop_SRCS := common/evloop.c
unit_sandbox_SRCS := common/sandbox.c common/log.c
unit_sandbox_LIBS := -lseccomp -lcap-ng
unit_seccomp_SRCS := common/sandbox.c common/log.c
unit_seccomp_LIBS := -lseccomp -lcap-ng -Wl,--wrap=seccomp_load
unit_confinement_SRCS := loaderd/confine.c symbolizerd/worker/confine.c exporterd/confinement.c \
	viewer/server/confine.c cli/config/confine.c common/sandbox.c common/log.c
unit_confinement_LIBS := -lseccomp -lcap-ng
unit_protocol_SRCS := ipc/message.c ipc/rules.c
UNIT += counter_table frame_kinds hub_client
unit_hub_client_SRCS := tests/hostile/mutants.c ipc/hub_client.c ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c ipc/sealed.c ipc/counters.c
unit_counter_table_SRCS := ipc/counter_table.c ipc/counters.c
UNIT += short_name
unit_short_name_SRCS := ipc/short_name.c ipc/short_method.c
