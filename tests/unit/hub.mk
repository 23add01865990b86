HUB_LEDGER := symbolizerd/ledger.c symbolizerd/batches.c
UNIT += ledger
unit_ledger_SRCS := $(HUB_LEDGER) ipc/counters.c
