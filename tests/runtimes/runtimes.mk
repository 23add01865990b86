# SPDX-License-Identifier: Apache-2.0
#
# Tests of languages, found by their places: tests/runtimes/NAME/unit/test_X.c is the unit
# test X, tests/runtimes/NAME/fuzz/fuzz_X.c the fuzz target X; tests/tiers.sh finds live ones,
# tests/runtimes/NAME/live/test_X.py.  What one needs that is not all that finds, unwinds and
# names a file, tests/runtimes/NAME/*.mk says, in unit_X_SRCS and unit_X_LIBS.
include $(wildcard tests/runtimes/*/*.mk)

# tests_of KIND, of the folder and before the name
tests_of = $(patsubst $(2)_%.c,%,$(notdir $(wildcard tests/runtimes/*/$(1)/$(2)_*.c)))
define runtime_test
$(1)_SRCS ?= $$(sort $$(UNWIND) $$(SYMBOLS))
$(1)_LIBS ?= -lelf -lnettle -liberty -lxxhash
endef
UNIT += $(call tests_of,unit,test)
FUZZ += $(call tests_of,fuzz,fuzz)
$(foreach t,$(call tests_of,unit,test),$(eval $(call runtime_test,unit_$(t))))
$(foreach t,$(call tests_of,fuzz,fuzz),$(eval $(call runtime_test,fuzz_$(t))))
