/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: tasks.rec, activity.data and trace.rec, and the summary and picture made of them. */
#include "core/cavs.h"
#include "core/trace/trace.h"
#include "tests/fuzz/targets.h"

static void summarise(const struct cavs__trace *t)
{
    struct cavs__trace_stats s;
    FILE *out = fopen("/dev/null", "w");

    FUZZ_MUST(out, "no /dev/null");
    if (cavs__trace_stats_make(t, &s) == 0) {
        cavs__trace_text(out, t, &s);
        cavs__trace_svg(out, t, &s);
        cavs__trace_stats_free(&s);
    }
    fclose(out);
}

void fuzz_trace(const uint8_t *data, size_t size)
{
    struct fuzz_part part[3];
    struct fuzz_file file[3];
    struct cavs__trace t;

    fuzz_split(data, size, 3, part);
    for (int i = 0; i < 3; i++)
        file[i] = fuzz_file(part[i].data, part[i].size);
    if (cavs__trace_read(file[0].path, file[1].path, &t) == 0) {
        cavs__trace_read_pauses(file[2].path, &t);
        summarise(&t);
        cavs__trace_free(&t);
    } else {
        FUZZ_MUST(*cavs_error_message(), "refused without a message");
    }
    for (int i = 0; i < 3; i++)
        fuzz_file_close(&file[i]);
}
