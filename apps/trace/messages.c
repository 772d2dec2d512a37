/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.c - what ranks sent one another, from comms.rec, and what that says of their clocks.
 *
 * StarPU's tool takes the moments at which ranks left a barrier for one and the same.  Where there
 * are more ranks than cores these are milliseconds apart, and messages come before they are sent.
 * That the quickest message takes as long one way as the other is nearer to the truth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "apps/trace/trace.h"

/* ---- the reader ------------------------------------------------------------------------------ */

/* What a rank sends to itself is no message.  What has ranks that no task has is no message of
 * this run. */
static bool is_message(const struct trace *t, const struct trace_message *m)
{
    return m->from != m->to && m->from >= 0 && m->to >= 0 && m->from < t->nranks &&
           m->to < t->nranks;
}

/* -1: none that could be meant. */
static double number_of(const char *line)
{
    const char *colon = strchr(line, ':');
    double value = colon ? strtod(colon + 1, NULL) : -1;

    return value >= 0 && value < 1e15 ? value : -1;
}

static void read_field(struct trace_message *m, const char *line)
{
    double value = number_of(line);

    if (strncmp(line, "Src:", 4) == 0)
        m->from = value < TRACE_RANKS ? (int)value : -1;
    else if (strncmp(line, "Dst:", 4) == 0)
        m->to = value < TRACE_RANKS ? (int)value : -1;
    else if (strncmp(line, "SendTime:", 9) == 0)
        m->sent = value;
    else if (strncmp(line, "RecvTime:", 9) == 0)
        m->came = value;
    else if (strncmp(line, "Size:", 5) == 0)
        m->bytes = (long)value;
}

/* Lines "Key: value", and an empty one behind each message. */
static bool read_all(FILE *in, struct trace *t)
{
    struct trace_message m = {.from = -1};
    char *line = NULL;
    size_t size = 0;
    bool ok = true;

    while (ok && getline(&line, &size, in) >= 0) {
        if (line[0] != '\n') {
            read_field(&m, line);
            continue;
        }
        ok = !is_message(t, &m) || CAVS__APPEND(t->messages, t->nmessages, m);
        m = (struct trace_message){.from = -1};
    }
    free(line);
    return ok;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* How far the clock of each rank is ahead of that of rank 0. */
static void compare_clocks(const struct trace *t, double *ahead)
{
    double there[TRACE_RANKS], back[TRACE_RANKS];

    for (int i = 0; i < t->nranks; i++)
        there[i] = back[i] = INFINITY;
    for (int i = 0; i < t->nmessages; i++) {
        const struct trace_message *m = &t->messages[i];

        if (m->from == 0)
            there[m->to] = fmin(there[m->to], m->came - m->sent);
        if (m->to == 0)
            back[m->from] = fmin(back[m->from], m->came - m->sent);
    }
    for (int i = 0; i < t->nranks; i++)
        ahead[i] = isfinite(there[i]) && isfinite(back[i]) ? (there[i] - back[i]) / 2 : 0;
}

static void set_clocks(struct trace *t)
{
    double ahead[TRACE_RANKS];

    compare_clocks(t, ahead);
    for (int i = 0; i < t->ntasks; i++) {
        struct trace_task *x = &t->tasks[i];

        x->submit -= ahead[x->rank];
        x->start -= ahead[x->rank];
        x->end -= ahead[x->rank];
    }
    for (int i = 0; i < t->nmessages; i++) {
        struct trace_message *m = &t->messages[i];

        m->sent -= ahead[m->from];
        m->came = fmax(m->sent, m->came - ahead[m->to]);
    }
}

int trace_read_messages(const char *path, struct trace *t, struct app_error *e)
{
    FILE *in = fopen(path, "r");
    bool ok = !in || read_all(in, t);

    if (in)
        fclose(in);
    if (!ok)
        return app_fail(e, CAVS_ENOMEM, "no memory for what is in %s", path);
    set_clocks(t);
    return CAVS_OK;
}
