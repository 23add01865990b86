# SPDX-License-Identifier: Apache-2.0
UNIT += wire buffer vector hash_table number json
unit_wire_SRCS := common/wire.c
unit_buffer_SRCS := common/buffer.c
unit_buffer_LIBS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
unit_vector_LIBS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
unit_hash_table_SRCS := common/hash_table.c
unit_hash_table_LIBS := -Wl,--wrap=malloc,--wrap=calloc
unit_number_SRCS := common/number.c
unit_json_SRCS := common/json.c common/buffer.c
