/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variant - the sampler's program with the runtimes that this host has, and no others
 *
 * libbpf loads the programs without any runtime (bpf.h).  For others the program that
 * events run (walk() in bpf/sampler.bpf.c) is loaded again, from the instructions that
 * libbpf has made ready for this kernel: no file is read, so that can be done after
 * confinement.  Instructions name maps by the numbers of their descriptors: a new map takes
 * the number of the old one (dup3(2)), which lives on as long as its program does.
 *
 * A map rtN_NAME belongs to the runtime with the number N; rt0_NAME to any.  While N is off,
 * the map is a tiny one, which no instruction that is left uses.  It has no flags.
 */
#ifndef LOADERD_VARIANT_H
#define LOADERD_VARIANT_H

#include <stdint.h>

struct bpf_prog_load_opts;
struct bpf_object;
struct bpf_program;
struct sampler;

/* Before libbpf loads: note the maps of runtimes, and have tiny ones in their place. */
void variant_note(const struct bpf_object *obj);

/* While libbpf loads: keep how it loads the program that events run. */
void variant_keep(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts);

/*
 * Load the program with these runtimes (bit 0: with any), and exchange it behind the
 * events: no sample is lost.  *in_force: those that it has, and then will have.  All maps
 * of runtimes are new, and empty; the old program and its maps are freed.  0, also if
 * nothing changes; or -errno: then the old program stays, and new maps that no program
 * uses, until the next time.
 */
int variant_use(struct sampler *s, uint64_t *in_force, uint64_t runtimes);

#endif /* LOADERD_VARIANT_H */
