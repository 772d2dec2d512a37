/* SPDX-License-Identifier: Apache-2.0 */
/* floor_params.c - the hand-written models' parameters: in memory, and from a safetensors file. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/random.h"
#include "codelets/products/panels.h"
#include "perf/floor.h"

void *floor_zeros(size_t n, size_t size)
{
    void *p = NULL;
    size_t bytes = (n * size + 63) / 64 * 64 + 64;

    if (posix_memalign(&p, 64, bytes) != 0) {
        fprintf(stderr, "floor: no memory for %zu bytes; take a smaller --batch or --hidden\n",
                bytes);
        exit(1);
    }
    return memset(p, 0, bytes);
}

static float *numbers(const struct floor_param *p, bool wanted)
{
    return wanted ? floor_zeros((size_t)p->rows * p->cols, sizeof(float)) : NULL;
}

/* Panels, if our own products are used, as the engine has them. */
static void create_copy(struct floor_param *p, bool backward, bool wanted)
{
    const bool panels = cavs__gemm()->gemm_panels;
    struct cavs__copy *c = &p->copy[backward];

    c->layout = panels     ? backward ? CAVS__LAYOUT_PANELS_TRANSPOSED : CAVS__LAYOUT_PANELS
                : backward ? CAVS__LAYOUT_TRANSPOSED
                           : CAVS__LAYOUT_ROWS;
    c->ld = cavs__layout_cols(c->layout, p->rows, p->cols);
    if (wanted && c->layout != CAVS__LAYOUT_ROWS)
        c->p = floor_zeros((size_t)cavs__layout_rows(c->layout, p->rows, p->cols) * (size_t)c->ld,
                           sizeof(float));
}

/* As the engine does (core/compile/tiles.c), products take the way of near weights. */
static bool all_near(const struct floor_params *s, bool train)
{
    int64_t bytes = 0;

    for (int i = 0; i < s->n; i++)
        bytes += s->p[i].table ? 0 : (int64_t)s->p[i].rows * s->p[i].cols * (int64_t)sizeof(float);
    return (train ? 2 : 1) * bytes <= sysconf(_SC_LEVEL2_CACHE_SIZE) * 3 / 4;
}

int floor_copies_from(const struct floor_param *p, int row, struct cavs__copy copies[2])
{
    int n = 0;

    for (int i = 0; i < 2; i++) {
        if (!p->copy[i].p)
            continue;
        copies[n] = p->copy[i];
        switch (copies[n].layout) {
        case CAVS__LAYOUT_TRANSPOSED: copies[n].p += row; break;
        case CAVS__LAYOUT_PANELS: copies[n].p += (ptrdiff_t)row * CAVS__PANEL; break;
        case CAVS__LAYOUT_PANELS_TRANSPOSED: copies[n].p += row / CAVS__PANEL * copies[n].ld; break;
        case CAVS__LAYOUT_BF16: /* it computes in float32 */
        case CAVS__LAYOUT_BF16_TRANSPOSED:
        case CAVS__LAYOUT_ROWS:
        case CAVS__LAYOUTS: break;
        }
        n++;
    }
    return n;
}

static void copy_values(struct floor_param *p)
{
    for (int i = 0; i < 2; i++)
        if (p->copy[i].p)
            cavs__copy_block(&p->copy[i], 0, 0, p->rows, p->cols, p->w, p->cols);
}

void floor_multiply(const struct floor_part *part, const struct floor_param *param, bool backward,
                    int m, const float *x, int ldx, float *y, int ldy, bool accumulate)
{
    const struct cavs__copy *c = &param->copy[backward];
    const int k = backward ? param->cols : param->rows, n = backward ? param->rows : param->cols;

    if (c->layout == CAVS__LAYOUT_PANELS || c->layout == CAVS__LAYOUT_PANELS_TRANSPOSED)
        (part->params->near ? part->blas->gemm_near : part->blas->gemm_panels)(
            m, n, k, x, ldx, c->p, c->ld, y, ldy, accumulate);
    else
        part->blas->gemm(m, n, k, x, ldx, c->p ? c->p : param->w, c->ld, y, ldy, accumulate);
}

static void draw(struct floor_param *p, struct rng *r)
{
    size_t n = (size_t)p->rows * p->cols;

    for (size_t i = 0; i < n; i++)
        p->w[i] = p->lo + (p->hi - p->lo) * (float)(rng_next(r) >> 40) * 0x1p-24f;
    copy_values(p);
}

void floor_params_create(struct floor_params *s, int threads, bool train, uint64_t seed)
{
    struct rng r;

    rng_seed(&r, seed, 0);
    s->near = all_near(s, train);
    for (int i = 0; i < s->n; i++) {
        struct floor_param *p = &s->p[i];

        p->w = numbers(p, true);
        p->s0 = numbers(p, train);
        p->s1 = numbers(p, train);
        create_copy(p, false, p->multiplied);
        create_copy(p, true, train && p->transposed);
        for (int t = 0; t < threads; t++)
            p->grad[t] = numbers(p, train && !p->table);
        draw(p, &r);
    }
}

void floor_params_destroy(struct floor_params *s)
{
    for (int i = 0; i < s->n; i++) {
        struct floor_param *p = &s->p[i];

        free(p->w);
        free(p->s0);
        free(p->s1);
        for (int k = 0; k < 2; k++)
            free(p->copy[k].p);
        for (int t = 0; t < FLOOR_THREADS; t++)
            free(p->grad[t]);
    }
}

/* ---- safetensors: 8 bytes of header length, a JSON header, the numbers ----------------------- */

static json_t *read_header(FILE *in, long *data)
{
    unsigned char length[8];
    uint64_t n = 0;
    json_t *header = NULL;
    char *text;

    if (fread(length, 1, 8, in) != 8)
        return NULL;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)length[i] << 8 * i;
    if (n > 100 << 20 || !(text = malloc(n)))
        return NULL;
    if (fread(text, 1, n, in) == n)
        header = json_loadb(text, n, 0, NULL);
    free(text);
    *data = 8 + (long)n;
    return header;
}

static bool read_param(struct floor_param *p, const json_t *header, FILE *in, long data)
{
    const json_t *entry = json_object_get(header, p->name);
    json_int_t rows, cols, from, to;
    size_t n = (size_t)p->rows * p->cols;

    if (!entry || json_unpack((json_t *)entry, "{s:[I,I], s:[I,I]}", "shape", &rows, &cols,
                              "data_offsets", &from, &to) != 0) {
        fprintf(stderr, "floor: --init has no matrix '%s'\n", p->name);
        return false;
    }
    if (rows != p->rows || cols != p->cols) {
        fprintf(stderr, "floor: '%s' of --init is %lld x %lld, here it is %d x %d\n", p->name,
                (long long)rows, (long long)cols, p->rows, p->cols);
        return false;
    }
    if (fseek(in, data + (long)from, SEEK_SET) != 0 || fread(p->w, sizeof(float), n, in) != n) {
        fprintf(stderr, "floor: --init ends within '%s'\n", p->name);
        return false;
    }
    copy_values(p);
    return true;
}

bool floor_params_load(struct floor_params *s, const char *path)
{
    FILE *in = fopen(path, "rb");
    json_t *header;
    long data = 0;
    bool ok;

    if (!in) {
        fprintf(stderr, "floor: %s: %s\n", path, strerror(errno));
        return false;
    }
    header = read_header(in, &data);
    ok = header != NULL;
    if (!ok)
        fprintf(stderr, "floor: %s: not a safetensors file\n", path);
    for (int i = 0; ok && i < s->n; i++)
        ok = read_param(&s->p[i], header, in, data);
    json_decref(header);
    fclose(in);
    return ok;
}
