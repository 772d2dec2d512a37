/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: tasks.rec, activity.data, trace.rec and comms.rec, and the summary and picture made of
 * them. */
#include "core/cavs.h"
#include "apps/trace/trace.h"
#include "tests/fuzz/targets.h"

static void summarise(const struct trace *t)
{
    struct trace_stats s;
    FILE *out = fopen("/dev/null", "w");

    FUZZ_MUST(out, "no /dev/null");
    if (trace_stats_make(t, &s) == 0) {
        trace_text(out, t, &s);
        trace_svg(out, t, &s);
        trace_stats_free(&s);
    }
    fclose(out);
}

void fuzz_trace(const uint8_t *data, size_t size)
{
    struct fuzz_part part[4];
    struct fuzz_file file[4];
    struct trace t;
    struct app_error e = {0};

    fuzz_split(data, size, 4, part);
    for (int i = 0; i < 4; i++)
        file[i] = fuzz_file(part[i].data, part[i].size);
    if (trace_read(file[0].path, file[1].path, &t, &e) == 0) {
        trace_read_pauses(file[2].path, &t);
        FUZZ_MUST(trace_read_messages(file[3].path, &t, &e) == 0, "no messages");
        summarise(&t);
        trace_free(&t);
    } else {
        FUZZ_MUST(*e.text, "refused without a message");
    }
    for (int i = 0; i < 4; i++)
        fuzz_file_close(&file[i]);
}
