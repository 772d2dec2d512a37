/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_products.h - what one launch of our kernel of products (products.cl) does: up to eight
 * products, or sums of two products each; and rows that are copied beside them.
 *
 * A V_t of few vertices takes as long as its launches do. Groups before and after its products are
 * often nothing but copies of rows that the products then read, and sums of two of their results:
 * those need no launch of their own. Which groups may be taken along, core/compile/together.c says.
 */
#ifndef CAVS_CODELETS_DEVICE_FUSED_PRODUCTS_H
#define CAVS_CODELETS_DEVICE_FUSED_PRODUCTS_H

#include "codelets/device/device.h"

struct cavs__fused {
    struct cavs__device *device;
    void *index;
    int rows, n;
    struct cavs__product_sum {
        int rows, nterms; /* 1 or 2 */
        struct cavs__product_term {
            struct cavs__device_view x, w;
        } term[2];
        struct cavs__device_view y;
    } products[CAVS__MOST_TOGETHER];
    struct {
        struct cavs__device_view from, to;
    } copied[2]; /* without columns: nothing */
};

/* Calls of "gemm", each by itself. */
void cavs__fuse_products(struct cavs__fused *f, int n,
                         const struct cavs__device_call *const *calls);
/* Takes along a group that copies rows which the products may read. False: that cannot be, and the
 * group has to be launched before. */
bool cavs__fuse_copies(struct cavs__fused *f, const struct cavs__device_call *group);
/* Likewise a group that adds results of the products, which nobody else reads; or it has to be
 * launched afterwards. */
bool cavs__fuse_sums(struct cavs__fused *f, const struct cavs__device_call *group);
/* The arguments of the kernel behind the index buffer. */
void cavs__argument_fused(struct cavs__launch *l, const struct cavs__fused *f);

#endif
