/* SPDX-License-Identifier: Apache-2.0 */
/* wide_rows.c - see wide_rows.h. */
#include "tests/wide_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

static struct cavs_stage *rows_of(struct cavs_model *m)
{
    struct cavs_stage *stage = cavs_stage_create(m, "rows", 0);
    struct cavs_function *f = cavs_function_create(stage, "row");
    struct cavs_param *W = cavs_model_param(m, "W", WIDE_ROW, 1, CAVS_UNIFORM(-1e-3f, 1e-3f));

    cavs_loss(
        f, "loss",
        cavs_squared_error(cavs_matmul(cavs_pull(f, "x", WIDE_ROW), W), cavs_constant(f, 1, 1)),
        NULL);
    return stage;
}

struct cavs_model *wide_rows_model(void)
{
    struct cavs_model *m;

    if (cavs_model_create(&m) < 0)
        return NULL;
    rows_of(m);
    if (cavs_model_finish(m) == 0)
        return m;
    cavs_model_destroy(m);
    return NULL;
}

static int add_row(struct cavs_data *d, const struct cavs_stage *stage, const float *row)
{
    const int ptr[] = {0, 0};
    int rc = cavs_data_begin(d);

    if (rc == 0)
        rc = cavs_data_graph(d, stage, 1, NULL, ptr, NULL);
    if (rc == 0)
        rc = cavs_data_rows(d, stage, "x", 1, row);
    return rc == 0 ? cavs_data_end(d) : rc;
}

int wide_rows_pack(const struct cavs_model *m, const char *path, int samples)
{
    float *row = calloc(WIDE_ROW, sizeof *row);
    struct cavs_data *d;
    int rc = row ? cavs_data_pack(m, path, &d) : CAVS_ENOMEM;

    if (rc < 0) {
        free(row);
        return rc;
    }
    for (int i = 0; i < samples && rc == 0; i++) {
        row[i % WIDE_ROW] += 0.01f;
        rc = add_row(d, cavs_model_find_stage(m, "rows"), row);
    }
    if (rc == 0)
        rc = cavs_data_write(d);
    cavs_data_destroy(d);
    free(row);
    return rc;
}

void wide_rows_shuffle(int *order, int n)
{
    uint64_t random = 3;

    for (int i = 0; i < n; i++) {
        int k = random_int(&random, 0, i);

        order[i] = order[k];
        order[k] = i;
    }
}

int wide_rows_status(const char *field)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[128];
    size_t n = strlen(field);
    int kb = 0;

    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, field, n) == 0 && line[n] == ':')
            sscanf(line + n + 1, "%d", &kb);
    }
    if (f)
        fclose(f);
    return kb >> 10;
}
