/* SPDX-License-Identifier: Apache-2.0 */
/* sanitized.h - SANITIZED: a sanitizer keeps the memory.  gcc and clang say so differently. */
#ifndef CAVS_TESTS_SANITIZED_H
#define CAVS_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#endif
