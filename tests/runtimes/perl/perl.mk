# SPDX-License-Identifier: Apache-2.0
unit_perl_read_SRCS :=
unit_perl_read_LIBS :=
fuzz_perl_read_SRCS :=
fuzz_perl_read_LIBS :=
unit_perl_words_SRCS :=
unit_perl_words_LIBS :=
