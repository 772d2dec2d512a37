/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetches.h - functions that do nothing but fetch what will be needed into a cache.
 *
 * gcc 12 takes a function of this kind for one without effect, and leaves out calls of it, unless
 * it is seen through before that is looked for.
 */
#ifndef CAVS_CORE_BASE_FETCHES_H
#define CAVS_CORE_BASE_FETCHES_H

#define CAVS__FETCHES static inline __attribute__((always_inline))

#endif
