/* SPDX-License-Identifier: Apache-2.0 */
/* Trees in three files of numbers. */
#include <stdlib.h>

#include "apps/common/number_rows.h"
#include "apps/common/threefile.h"
#include "tests/fuzz/targets.h"

void fuzz_threefile(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"words", "parents", "labels"};
    struct fuzz_part part[THREEFILE_COUNT];
    FILE *in[THREEFILE_COUNT];
    struct forest f = {0};
    struct forest_stats stats;
    struct app_error e = {0};
    int rc;

    fuzz_split(data, size, THREEFILE_COUNT, part);
    for (int i = 0; i < THREEFILE_COUNT; i++)
        in[i] = fuzz_stream(part[i].data, part[i].size);
    rc = threefile_read(in, names, 5, &f, &e);
    FUZZ_MUST(rc == 0 || e.text[0], "refused without a message");
    FUZZ_MUST(rc < 0 || forest_measure(&f, &stats, &e) == 0, "%s", e.text);
    forest_clear(&f);
    for (int i = 0; i < THREEFILE_COUNT; i++)
        fclose(in[i]);
}

void fuzz_number_rows(const uint8_t *data, size_t size)
{
    struct number_rows rows = {.in = fuzz_stream(data, size), .name = "fuzz"};
    struct app_error e = {0};
    int rc;

    while ((rc = number_rows_next(&rows, &e)) > 0)
        for (int i = 0; i < rows.n; i++)
            FUZZ_MUST(rows.column[i] > (i ? rows.column[i - 1] : 0), "columns do not ascend");
    FUZZ_MUST(rc == 0 || e.text[0], "refused without a message");
    number_rows_clear(&rows);
    fclose(rows.in);
}
