/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_update.c - optimizers on a device.
 *
 * Kernels take eight arrays at most. A sparse gradient of more of them, or one whose norm is asked
 * for, is first summed into scratch, a row for each touched one; from there on it is a dense one
 * whose rows have numbers.
 */
#include "codelets/device/device.h"
#include "codelets/update.h"

enum {
    ARRAYS = 8,
    ROOM_FOR_SCALE = 16,
    NORM_GROUPS = 1024,
    NORM_NUMBERS = 2048 /* of a group, at least */
};
_Static_assert((int)CAVS__UPDATE_FLOATS >= 2 * NORM_GROUPS &&
                   (int)CAVS__UPDATE_FLOATS >= ROOM_FOR_SCALE,
               "sums begin behind these");

static void argument_arrays(struct cavs__launch *l, const struct cavs__memory *g, int n, int ld)
{
    struct cavs__memory none = {0};

    cavs__argument_int(l, n);
    cavs__argument_int(l, ld);
    for (int i = 0; i < ARRAYS; i++)
        cavs__argument_memory(l, i < n ? g[i] : none);
}

/* ---- sparse ---- */

/* Touched rows [first, first + n) to `to`, cols apart. */
static int sum_sparse(struct cavs__device *d, const struct cavs__device_gradient *g, int first,
                      int n, struct cavs__memory to)
{
    int rc = 0;

    for (int i = 0; i < g->ngrads && !rc; i += ARRAYS) {
        struct cavs__launch l;

        cavs__launch_rows(&l, d, d->kernels[CAVS__DEVICE_sparse_sum], g->lists, n, g->cols,
                          CAVS__NUMBERS);
        cavs__argument_int(&l, i > 0);
        cavs__argument_int(&l, i);
        cavs__argument_int(&l, g->ptr + first);
        cavs__argument_int(&l, g->source);
        cavs__argument_int(&l, g->row);
        argument_arrays(&l, g->g + i, g->ngrads - i < ARRAYS ? g->ngrads - i : ARRAYS, g->ld);
        cavs__argument_memory(&l, to);
        cavs__argument_int(&l, g->cols);
        rc = cavs__launch(d, &l);
    }
    return rc;
}

/* Rows of the gradient that are done at once, as arrays. */
struct rows {
    int first, n, ngrads, ld;
    const struct cavs__memory *g;
    struct cavs__memory sums; /* of a sparse gradient */
    bool entries;             /* of a sparse gradient: its arrays, nothing is summed yet */
};

/* Rows from `first` on: all of a dense gradient, of a sparse one as many as fit the room after
 * `taken` floats of it. n is 0 after the last one. */
static int next_rows(struct cavs__device *d, const struct cavs__device_gradient *g, int taken,
                     int first, struct rows *r)
{
    size_t fit = (g->floats - (size_t)taken) / (size_t)(g->cols > 0 ? g->cols : 1);

    *r = (struct rows){
        .first = first, .n = g->n - first, .ngrads = g->ngrads, .ld = g->ld, .g = g->g};
    if (!g->sparse || r->n <= 0)
        return 0;
    if (fit == 0) {
        cavs__device_fail(d, "a gradient of %d columns does not fit its scratch of %zu numbers",
                          g->cols, g->floats);
        return -1;
    }
    if ((size_t)r->n > fit)
        r->n = (int)fit;
    r->sums = g->room;
    r->sums.at += taken;
    r->ngrads = 1;
    r->ld = g->cols;
    r->g = &r->sums;
    return sum_sparse(d, g, first, r->n, r->sums);
}

/* ---- updates ---- */

static int clip_scale(struct cavs__device *d, float scale, const struct cavs__device_clip *clip,
                      struct cavs__memory scaled)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, d, CAVS__DEVICE_clip, 1, 1, 64);
    cavs__argument_int(&l, clip->n);
    cavs__argument_float(&l, scale);
    cavs__argument_float(&l, clip->norm);
    cavs__argument_memory(&l, clip->norms);
    cavs__argument_memory(&l, scaled);
    return cavs__launch(d, &l);
}

/* RULE_NUMBERS of kernels.cl */
static void argument_rule(struct cavs__launch *l, const struct cavs__update *u)
{
    cavs__argument_int(l, u->rule);
#define CAVS_NUMBER(name, ...) cavs__argument_float(l, u->name);
    CAVS__UPDATE_NUMBERS(CAVS_NUMBER)
}

static int update_rows(struct cavs__device *d, const struct cavs__update *u,
                       const struct cavs__device_gradient *g, const struct rows *r,
                       const struct cavs__device_param *p, struct cavs__memory scaled)
{
    enum cavs__device_kernel kernel = r->entries ? CAVS__DEVICE_sparse_update : CAVS__DEVICE_update;
    struct cavs__launch l;

    cavs__launch_rows(&l, d, d->kernels[kernel], g->sparse ? g->lists : NULL, r->n, g->cols, 1);
    cavs__argument_int(&l, g->sparse ? g->ids + r->first : -1);
    if (r->entries) {
        cavs__argument_int(&l, g->ptr);
        cavs__argument_int(&l, g->source);
        cavs__argument_int(&l, g->row);
    }
    argument_rule(&l, u);
    cavs__argument_memory(&l, scaled);
    cavs__argument_int(&l, p->ld);
    cavs__argument_int(&l, cavs__rules[u->rule].states);
    cavs__argument_memory(&l, p->w);
    cavs__argument_memory(&l, p->s0);
    cavs__argument_memory(&l, p->s1);
    argument_arrays(&l, r->g, r->ngrads, r->ld);
    return cavs__launch(d, &l);
}

static int update_at_once(struct cavs__device *d, const struct cavs__update *u,
                          const struct cavs__device_gradient *g, const struct cavs__device_param *p,
                          struct cavs__memory scaled)
{
    const struct rows all = {
        .n = g->n, .ngrads = g->ngrads, .ld = g->ld, .g = g->g, .entries = g->sparse};

    return update_rows(d, u, g, &all, p, scaled);
}

/* Of more arrays than a kernel takes: their sums come first. */
static int update_sums(struct cavs__device *d, const struct cavs__update *u,
                       const struct cavs__device_gradient *g, const struct cavs__device_param *p,
                       struct cavs__memory scaled)
{
    struct rows r = {0};

    do {
        if (next_rows(d, g, ROOM_FOR_SCALE, r.first + r.n, &r) ||
            update_rows(d, u, g, &r, p, scaled))
            return -1;
    } while (r.first + r.n < g->n);
    return 0;
}

static int transpose(struct cavs__device *d, int rows, int cols, const struct cavs__device_param *p)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, d, CAVS__DEVICE_transpose, (rows + 31) / 32, (cols + 31) / 32, 256);
    cavs__argument_int(&l, rows);
    cavs__argument_int(&l, cols);
    cavs__argument_memory(&l, p->w);
    cavs__argument_int(&l, p->ld);
    cavs__argument_memory(&l, p->wt);
    cavs__argument_int(&l, p->ldt);
    return cavs__launch(d, &l);
}

int cavs__device_update(struct cavs__device *d, const struct cavs__update *u,
                        const struct cavs__device_gradient *g, const struct cavs__device_param *p,
                        const struct cavs__device_clip *clip)
{
    struct cavs__memory scaled = {0};

    if (clip->n > 0) {
        scaled = g->room;
        if (clip_scale(d, u->scale, clip, scaled))
            return -1;
    }
    if (g->sparse && g->ngrads > ARRAYS ? update_sums(d, u, g, p, scaled)
                                        : update_at_once(d, u, g, p, scaled))
        return -1;
    return p->wt.p ? transpose(d, p->rows, g->cols, p) : 0;
}

/* ---- norms ---- */

/* Groups that share so many rows, which depends on nothing else: the sum is the same everywhere. */
static int groups_of_norm(int rows, int cols)
{
    int at_once = CAVS__ROW_ITEMS >> cavs__lanes(cols, CAVS__NUMBERS);
    int64_t groups = ((int64_t)rows * cols + NORM_NUMBERS - 1) / NORM_NUMBERS;

    groups = groups < NORM_GROUPS ? groups : NORM_GROUPS;
    return (int)(groups < (rows + at_once - 1) / at_once ? groups : (rows + at_once - 1) / at_once);
}

static int squares(struct cavs__device *d, const struct rows *r, int cols, int groups,
                   struct cavs__memory parts)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, d, CAVS__DEVICE_squares, groups, 1, 256);
    cavs__argument_int(&l, r->n);
    cavs__argument_int(&l, cols);
    cavs__argument_int(&l, cavs__lanes(cols, CAVS__NUMBERS));
    argument_arrays(&l, r->g, r->ngrads, r->ld);
    cavs__argument_memory(&l, parts);
    return cavs__launch(d, &l);
}

static int add_parts(struct cavs__device *d, int groups, bool accumulate, struct cavs__memory parts,
                     struct cavs__memory norms, int number)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, d, CAVS__DEVICE_norm, 1, 1, 256);
    cavs__argument_int(&l, groups);
    cavs__argument_int(&l, accumulate);
    cavs__argument_memory(&l, parts);
    cavs__argument_memory(&l, norms);
    cavs__argument_int(&l, number);
    return cavs__launch(d, &l);
}

int cavs__device_norm(struct cavs__device *d, const struct cavs__device_gradient *g,
                      struct cavs__memory norms, int number)
{
    struct rows r = {0};

    do {
        int groups;

        if (next_rows(d, g, 2 * NORM_GROUPS, r.first + r.n, &r))
            return -1;
        groups = groups_of_norm(r.n, g->cols);
        if (groups > 0 && squares(d, &r, g->cols, groups, g->room))
            return -1;
        if (add_parts(d, groups, r.first > 0, g->room, norms, number))
            return -1;
    } while (r.first + r.n < g->n);
    return 0;
}
