/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h - what a kernel file needs so that its loops really vectorise, on whatever CPU the program
 * runs.
 *
 * CAVS__CLONES before a function has it compiled for several generations of x86-64; the loader
 * picks one.  Elsewhere, and under sanitizers (which the resolvers would call before they are
 * ready), it is nothing.
 *
 * A call of expf() or the like would keep a loop scalar: codelets/kernels/vector_math.h has what to
 * write instead.
 */
#ifndef CAVS_CODELETS_PRODUCTS_SIMD_H
#define CAVS_CODELETS_PRODUCTS_SIMD_H

#include <limits.h> /* any header of the C library says by __GLIBC__ whose it is */

#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ && \
    __GNUC__ >= 12 && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define CAVS__CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CAVS__CLONES
#endif

#ifdef __clang__ /* says which loops stayed scalar, which under a sanitizer is all of them */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#endif
