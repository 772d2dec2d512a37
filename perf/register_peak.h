/* SPDX-License-Identifier: Apache-2.0 */
/* register_peak.h - what a core can do at most, at this moment. */
#ifndef CAVS_PERF_REGISTER_PEAK_H
#define CAVS_PERF_REGISTER_PEAK_H

/* GFLOP/s of multiply-adds of float32 numbers that stay in registers, in the widest vectors of the
 * calling thread's core; takes some 0.1 ms.  It follows the clock, which on many hosts goes up and
 * down by a fifth: what is to be compared with it is measured right before or after. */
double register_peak(void);

#endif
