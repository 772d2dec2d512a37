/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products.h - matrix products on devices: by the device's library, one launch each and one more
 * for rows that have to be packed; or by our kernel (products.cl), which takes several at once and
 * reads rows where they are.
 *
 * Small products are launches above all, large ones arithmetic: which is faster is measured when a
 * device is opened first, and kept beside the compiled kernels, so that a device takes the same way
 * in all runs. (On an H100 the library is ahead from some 4e8 multiplications of one product on,
 * and from 2e9 of three together.)
 */
#ifndef CAVS_CODELETS_DEVICE_PRODUCTS_H
#define CAVS_CODELETS_DEVICE_PRODUCTS_H

#include "codelets/device/device.h"

/*
 * The tiles of our kernel (products.cl): name; rows and columns of a tile; rows of an item, and
 * items of the group; steps of a chunk, and how many chunks of a slice are in local memory, where
 * all have 48 KB; and how long a step of a tile takes as compared with the others: nanoseconds of
 * an H100. (Others that were tried there, of 32 x 32, 32 x 64, 128 x 64 and 128 x 128, were ahead
 * of both by a tenth at a few sizes.)
 */
#define CAVS__TILES(T)                    \
    T(narrow, 16, 16, 4, 128, 16, 2, 2.9) \
    T(short, 16, 32, 4, 128, 16, 3, 5)    \
    T(tall, 64, 64, 8, 256, 16, 2, 30)
enum {
#define CAVS__TILE(name, ...) CAVS__TILES_##name,
    CAVS__TILES(CAVS__TILE)
#undef CAVS__TILE
        CAVS__TILES_COUNT
};

/* y = x w of kernel "gemm", n calls, none of which reads or writes what another one writes; at most
 * CAVS__MOST_TOGETHER.  A group of copies may come before them and a group of sums after them, as
 * core/compile/together.c has it.  0, or -1: the device has failed. */
int cavs__device_products(int n, const struct cavs__device_call *const *calls);
/* The same by our kernel, in one launch, with the tiles that suit them or with these; and one by
 * one by the library. */
int cavs__device_products_together(int n, const struct cavs__device_call *const *calls);
int cavs__device_products_tiled(int tiles, int n, const struct cavs__device_call *const *calls);
int cavs__device_tiles_for(int n, const struct cavs__device_call *const *calls);
int cavs__device_products_apart(int n, const struct cavs__device_call *const *calls);
/* What device_kernels.c queues for "gemm" and for "gemm_tn". */
int cavs__device_gemm(const struct cavs__device_call *c);
int cavs__device_gemm_tn(const struct cavs__device_call *c);
/* Products that may run at once. */
struct cavs__products {
    int n;
    double work;  /* multiplications of all of them */
    bool indexed; /* x of some are rows by index */
    bool bf16;    /* a library that can rounds operands to bfloat16 */
};
/* Whether they are one launch there, or else go to the library one by one. */
bool cavs__device_takes_together(const struct cavs__device *d, const struct cavs__products *p);
/* products_choice.c: sets d->together, by its worker.  CAVS_DEVICE_PRODUCTS decides, if it is
 * set. */
void cavs__device_choose_products(struct cavs__device *d);

#endif
