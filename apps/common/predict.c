/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/json_build.h"
#include "apps/common/peers.h"
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
    p->in_name = strcmp(path, "-") == 0 ? "standard input" : path;
    p->in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!p->in)
        return app_fail(&a->error, CAVS_EIO, "%s: %s", path, strerror(errno));
    return 0;
}

static int open_output(struct app *a)
{
    struct predictions *p = &a->predictions;
    const char *path = peers_is_first() ? a->options.output : NULL;
    int rc = path ? cavs_file_create(path, &p->file) : 0;

    p->out_name = path ? path : "standard output";
    p->out = p->file ? cavs_file_stream(p->file) : stdout;
    return rc;
}

/* An error of writing is found now at the latest. */
static int flush_output(struct app *a)
{
    if (fflush(a->predictions.out) != 0 || ferror(a->predictions.out))
        return app_fail(&a->error, CAVS_EIO, "writing predictions to %s: %s",
                        a->predictions.out_name, strerror(errno));
    return 0;
}

/* The next samples: how many, 0 at the end or where a signal has ended the reading, or a negative
 * code. */
static int predict_some(struct app *a)
{
    struct cavs_data *d = NULL;
    int n = a->program->record ? 0 : cavs_data_create(a->model, &d);

    if (n == 0)
        n = a->program->predict(a, d, a->options.batch);
    cavs_data_destroy(d);
    return n < 0 && stop_has_ended_reading() ? 0 : n;
}

int predictions_make(struct app *a)
{
    int rc = open_output(a), n = rc < 0 ? rc : 1;
    int64_t all = 0;

    stop_ends_reading(a->predictions.in);
    while (peers_go_on(a) && n > 0) {
        n = predict_some(a);
        if (n > 0 && (rc = flush_output(a)) < 0)
            n = rc;
        if (n > 0)
            all += n;
    }
    stop_ends_reading(NULL);
    report_count(&a->report, "predicted", all);
    if (n == 0 && !stop_signal() && a->predictions.file)
        n = cavs_file_commit(a->predictions.file);
    return n < 0 ? n : 0;
}

void predictions_close(struct app *a)
{
    struct predictions *p = &a->predictions;

    if (p->in && p->in != stdin)
        fclose(p->in);
    cavs_file_close(p->file);
    free(p->rows);
    *p = (struct predictions){0};
}

int predictions_write_json(struct app *a, json_t *object)
{
    int rc = json_build_write(object, 9, a->predictions.out);

    json_decref(object);
    return rc < 0 ? app_fail(&a->error, rc, "no memory for a prediction in JSON") : 0;
}

void predictions_at_line(struct app *a, size_t line)
{
    struct predictions *p = &a->predictions;

    for (; p->line + 1 < line && !a->options.json; p->line++)
        fputc('\n', p->out);
    p->line = line;
}

/* Sees to it that p->rows has room for n numbers. */
static int make_room(struct app *a, size_t n)
{
    struct predictions *p = &a->predictions;

    if (n <= p->room)
        return 0;
    free(p->rows);
    p->rows = malloc(n * sizeof *p->rows);
    p->room = p->rows ? n : 0;
    return p->rows ? 0
                   : app_fail(&a->error, CAVS_ENOMEM, "no memory for %.1f MB of predictions",
                              (double)n * 4e-6);
}

int app_rows_of(struct app *a, const struct cavs_data *d, const int *samples, int n,
                struct cavs_fetch *fetch)
{
    size_t vertices = 0;
    int rc;

    for (int i = 0; i < n; i++)
        vertices += (size_t)cavs_data_sample_vertices(d, fetch->stage, samples[i]);
    rc = make_room(a, vertices * (size_t)cavs_channel_width(fetch->stage, fetch->channel) + 1);
    fetch->rows = a->predictions.rows;
    return rc < 0 ? rc : cavs_session_run(a->session, d, samples, n, 1, fetch);
}

int app_rows(struct app *a, const struct cavs_data *d, struct cavs_fetch *fetch)
{
    int n = cavs_data_size(d), *samples = malloc(((size_t)n + 1) * sizeof *samples), rc;

    if (!samples)
        return app_fail(&a->error, CAVS_ENOMEM, "no memory for the numbers of %d samples", n);
    for (int i = 0; i < n; i++)
        samples[i] = i;
    rc = app_rows_of(a, d, samples, n, fetch);
    free(samples);
    return rc;
}
