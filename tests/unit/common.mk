UNIT += wire
unit_wire_SRCS := common/wire.c
