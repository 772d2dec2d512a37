/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h - what a kernel file needs so that its loops really vectorise, on whatever CPU the program
 * runs.
 *
 * CAVS__CLONES before a function has it compiled for several generations of x86-64; the loader
 * picks one.  Elsewhere, and under sanitizers (which the resolvers would call before they are
 * ready), it is nothing.
 *
 * glibc declares the vector variants of expf and friends only under the full -ffast-math; kernel
 * files keep NaN and Inf (-fno-finite-math-only), so the declaration is repeated here.  Without it
 * gcc silently calls the scalar function: ten times slower.
 */
#ifndef CAVS_CODELETS_PRODUCTS_SIMD_H
#define CAVS_CODELETS_PRODUCTS_SIMD_H

#include <math.h>

#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ && \
    __GNUC__ >= 12
#define CAVS__GNU_X86 1
#else
#define CAVS__GNU_X86 0
#endif

#if CAVS__GNU_X86 && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define CAVS__CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CAVS__CLONES
#endif

#ifdef __clang__ /* says which loops stayed scalar, which under a sanitizer is all of them */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#if CAVS__GNU_X86
float expf(float) __attribute__((simd("notinbranch")));
#endif

#endif
