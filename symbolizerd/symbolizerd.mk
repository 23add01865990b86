# SPDX-License-Identifier: Apache-2.0
# Reading call frame information is most of a worker's time.
$(O)/symbolizerd/unwind/%.o: CFLAGS += -O3
