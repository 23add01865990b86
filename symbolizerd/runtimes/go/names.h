/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - functions of a Go file, named by its pclntab
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_NAMES_H
#define SYMBOLIZERD_RUNTIMES_GO_NAMES_H

#include "symbolizerd/symbols/source.h"

extern const struct symbol_source go_symbols;

#endif /* SYMBOLIZERD_RUNTIMES_GO_NAMES_H */
