/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/stop.h"

bool predictions_take_stdout(const struct app *a)
{
    return a->options.predict && !a->options.output;
}

int predictions_open(struct app *a)
{
    struct predictions *p = &a->predictions;
    const char *path = a->options.predict;

    if (!path)
        return 0;
    if (!a->program->predict)
        return app_fail(&a->error, CAVS_EINVAL, "%s predicts nothing", a->program->name);
    p->in_name = strcmp(path, "-") == 0 ? "standard input" : path;
    p->in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!p->in)
        return app_fail(&a->error, CAVS_EIO, "%s: %s", path, strerror(errno));
    return 0;
}

static int open_output(struct app *a)
{
    struct predictions *p = &a->predictions;
    const char *path = a->options.output;

    p->out_name = path ? path : "standard output";
    p->out = path ? fopen(path, "w") : stdout;
    if (!p->out)
        return app_fail(&a->error, CAVS_EIO, "--output %s: %s", path, strerror(errno));
    return 0;
}

/* An error of writing is found now at the latest. */
static int flush_output(struct app *a)
{
    if (fflush(a->predictions.out) != 0 || ferror(a->predictions.out))
        return app_fail(&a->error, CAVS_EIO, "writing predictions to %s: %s",
                        a->predictions.out_name, strerror(errno));
    return 0;
}

int predictions_make(struct app *a)
{
    int rc = open_output(a), n = rc < 0 ? rc : 1;
    int64_t all = 0;

    while (n > 0 && !stop_signal()) {
        n = a->program->predict(a, a->options.batch);
        if (n > 0 && (rc = flush_output(a)) < 0)
            n = rc;
        if (n > 0)
            all += n;
    }
    report_count(&a->report, "predicted", all);
    return n < 0 ? n : 0;
}

void predictions_close(struct app *a)
{
    struct predictions *p = &a->predictions;

    if (p->in && p->in != stdin)
        fclose(p->in);
    if (p->out && p->out != stdout)
        fclose(p->out);
    free(p->rows);
    *p = (struct predictions){0};
}

int app_rows(struct app *a, const struct cavs_data *d, const struct cavs_stage *stage,
             const char *channel, const float **rows)
{
    struct predictions *p = &a->predictions;
    int n = cavs_data_size(d), *samples = malloc(((size_t)n + 1) * sizeof *samples), rc;
    size_t want = (size_t)cavs_data_vertices(d, stage) * (size_t)cavs_channel_width(stage, channel);

    if (want > p->room) {
        free(p->rows);
        p->rows = malloc(want * sizeof *p->rows);
        p->room = p->rows ? want : 0;
    }
    if (!samples || (want && !p->rows)) {
        free(samples);
        return app_fail(&a->error, CAVS_ENOMEM, "no memory for %.1f MB of predictions",
                        want * 4e-6);
    }
    for (int i = 0; i < n; i++)
        samples[i] = i;
    rc = cavs_session_output(a->session, d, samples, n, stage, channel, p->rows);
    free(samples);
    *rows = p->rows;
    return rc;
}
