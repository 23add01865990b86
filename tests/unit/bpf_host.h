/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_host - BPF code on the host: bpf/host.h */
#ifndef TESTS_BPF_HOST_H
#define TESTS_BPF_HOST_H

#include "bpf/host.h"

#endif /* TESTS_BPF_HOST_H */
