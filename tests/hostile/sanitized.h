/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitized - the names that the linker's --wrap and the sanitizers' runtime
 * look for
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#include <seccomp.h>
#include <sys/resource.h>

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

int __real_setrlimit(__rlimit_resource_t what, const struct rlimit *limit);
int __wrap_setrlimit(__rlimit_resource_t what, const struct rlimit *limit);

/* Not every program has a filter, and libseccomp. */
#pragma weak seccomp_rule_add
__attribute__((weak)) int __real_seccomp_load(const scmp_filter_ctx ctx);
int __wrap_seccomp_load(const scmp_filter_ctx ctx);
__attribute__((weak)) int __real_seccomp_export_bpf(const scmp_filter_ctx ctx, int fd);
int __wrap_seccomp_export_bpf(const scmp_filter_ctx ctx, int fd);

#endif /* TESTS_SANITIZED_H */
