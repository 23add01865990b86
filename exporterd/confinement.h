/* SPDX-License-Identifier: Apache-2.0 */
/* confinement - what exporterd keeps: data for exporter_confine() */
#ifndef EXPORTERD_CONFINEMENT_H
#define EXPORTERD_CONFINEMENT_H

#include "common/sandbox.h"

/* Its tables of rules that do not always apply. */
#define EXPORTER_DIR_RULES	1
#define EXPORTER_CACHE_RULES	2
#define EXPORTER_MEMFD_RULES	3

extern const struct confinement confinement_exporterd;

#endif /* EXPORTERD_CONFINEMENT_H */
