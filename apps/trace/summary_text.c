/* SPDX-License-Identifier: Apache-2.0 */
/* summary_text.c - the summary for a terminal. */
#include <stdlib.h>

#include "apps/trace/trace.h"

static void print_head(FILE *out, const struct trace *t, const struct trace_stats *s)
{
    double span = s->end - s->begin;
    char ranks[32] = "";

    if (t->nranks > 1)
        snprintf(ranks, sizeof ranks, " of %d ranks", t->nranks);
    fprintf(out,
            "%ld task%s on %d worker%s%s in %.3f ms: %.1f %% of the time at work, %.1f %% idle\n",
            s->all.count, trace_plural(s->all.count), s->workers, trace_plural(s->workers), ranks,
            span, trace_percent(s->all.ms, span * s->workers),
            100 - trace_percent(s->all.ms, span * s->workers));
    fprintf(out, "The clock runs from the first task's start to the last one's end; %s.\n",
            s->nbatches > 0 ? "tasks outside of batches are left out"
                            : "batches are not marked in this trace");
    if (t->pauses > 0)
        fprintf(out,
                "Beware: FxT's buffer was full, and writing it to disk stopped the program\n"
                "%d time%s, for %.0f ms in all.  STARPU_TRACE_BUFFER_SIZE=256 or more avoids that\n"
                "(MB, taken twice from the memory).\n",
                t->pauses, trace_plural(t->pauses), t->paused);
}

static void print_batches(FILE *out, const struct trace_stats *s)
{
    long n = 0, fewest = 0, most = 0;
    double span = 0;

    for (long i = 0; i < s->nbatches; i++) {
        const struct trace_batch *b = &s->batch[i];

        if (b->count == 0)
            continue;
        if (n == 0 || b->count < fewest)
            fewest = b->count;
        if (b->count > most)
            most = b->count;
        span += b->end - b->begin;
        n++;
    }
    if (n == 0)
        return;
    fprintf(out, "\nBatches\n");
    fprintf(out, "  %-34s %10ld\n", "batches", n);
    fprintf(out, "  %-34s %10.1f   (%ld to %ld)\n", "tasks per batch",
            (double)s->all.count / (double)n, fewest, most);
    fprintf(out, "  %-34s %10.3f ms\n", "from one batch to the next",
            (s->end - s->begin) / (double)n);
    fprintf(out, "  %-34s %10.3f ms   (batches overlap)\n", "first to last task of a batch",
            span / (double)n);
    fprintf(out, "  %-34s %10.3f ms\n", "work in a batch, all workers", s->all.ms / (double)n);
}

static void print_workers(FILE *out, const struct trace *t, const struct trace_stats *s)
{
    static const char *const why[TRACE_IDLES] = {
        [TRACE_RUNTIME] = "a task was ready, not yet started",
        [TRACE_WAITING] = "tasks waited for other tasks",
        [TRACE_STARVING] = "nothing was submitted",
    };
    double span = s->end - s->begin;

    fprintf(out, "\n%-36s %10s %10s %8s\n", "Workers", "tasks", "busy ms", "idle %");
    for (int i = 0; i < t->nworkers; i++) {
        if (t->workers[i])
            fprintf(out, "  %-34s %10ld %10.3f %8.1f\n", t->workers[i], s->worker[i].count,
                    s->worker[i].ms, 100 - trace_percent(s->worker[i].ms, span));
    }
    fprintf(out, "\n%-36s %10s %10s %8s\n", "Why workers were idle", "", "ms", "% of all");
    for (int i = 0; i < TRACE_IDLES; i++)
        fprintf(out, "  %-34s %10s %10.3f %8.1f\n", why[i], "", s->idle[i],
                trace_percent(s->idle[i], span * s->workers));
}

/* Not hidden: the share of the receiver's workers that had nothing to do meanwhile. */
static void print_messages(FILE *out, const struct trace *t, const struct trace_stats *s)
{
    if (t->nmessages == 0)
        return;
    fprintf(out, "\n%-36s %10s %10s %8s %12s\n", "Messages", "number", "MB", "ms", "not hidden");
    for (int i = 0; i < t->nranks; i++) {
        const struct trace_rank *r = &s->rank[i];

        fprintf(out, "  to rank %-26d %10ld %10.3f %8.1f %12.1f\n", i, r->messages, r->bytes * 1e-6,
                r->under_way, r->exposed);
    }
}

static void print_phase(FILE *out, const struct trace_stats *s, struct cavs__work kind)
{
    const struct trace_total *total = &s->kind[kind.phase][kind.backward];
    char name[32];

    if (total->count == 0)
        return;
    snprintf(name, sizeof name, "%s%s", cavs__work_phase_name(kind.phase),
             cavs__work_direction(kind));
    fprintf(out, "  %-34s %10ld %10.3f %8.1f %12.1f\n", name, total->count, total->ms,
            trace_percent(total->ms, s->all.ms),
            trace_percent(s->path_kind[kind.phase][kind.backward], s->path.ms));
}

static void print_phases(FILE *out, const struct trace_stats *s)
{
    fprintf(out, "\n%-36s %10s %10s %8s %12s\n", "Phases", "tasks", "ms", "share %", "of path %");
    for (int i = 0; i < 2 * CAVS__WORK_PHASES; i++)
        print_phase(out, s, (struct cavs__work){(enum cavs__work_phase)(i / 2), i % 2});
}

/* What ran beside the chain cost no time of its own. */
static void print_overlap(FILE *out, const struct trace_stats *s)
{
    fprintf(out, "\n%-36s %10s %10s %8s\n", "Beside the chain", "running ms", "beside ms", "%");
    for (int p = 0; p < CAVS__WORK_PHASES; p++) {
        enum cavs__work_phase phase = (enum cavs__work_phase)p;
        double both = trace_both(s, phase, CAVS__WORK_CHAIN), alone = trace_both(s, phase, phase);

        if (phase != CAVS__WORK_CHAIN && alone > 0)
            fprintf(out, "  %-34s %10.3f %10.3f %8.1f\n", cavs__work_phase_name(phase), alone, both,
                    trace_percent(both, alone));
    }
}

static void print_path(FILE *out, const struct trace_stats *s)
{
    double span = s->end - s->begin, work = s->workers > 0 ? s->all.ms / s->workers : 0;

    fprintf(out, "\nHow short this run could have been\n");
    fprintf(out, "  %-34s %10.3f ms   (%.1f %% of the run; %ld tasks that wait for each other)\n",
            "longest path", s->path.ms, trace_percent(s->path.ms, span), s->path.count);
    fprintf(out, "  %-34s %10.3f ms   (%.1f %% of the run)\n", "work divided by workers", work,
            trace_percent(work, span));
}

static void print_codelets(FILE *out, const struct trace *t, const struct trace_stats *s)
{
    int *order = malloc(((size_t)t->ncodelets + 1) * sizeof *order), n;

    if (!order)
        return;
    n = trace_by_time(t, s, order);
    fprintf(out, "\n%-36s %10s %10s %8s %12s\n", "Codelets", "tasks", "ms", "share %", "mean us");
    for (int i = 0; i < n; i++) {
        const struct trace_total *total = &s->codelet[order[i]];

        fprintf(out, "  %-34s %10ld %10.3f %8.1f %12.2f\n", t->codelets[order[i]].name,
                total->count, total->ms, trace_percent(total->ms, s->all.ms),
                1000 * total->ms / (double)total->count);
    }
    free(order);
}

static void print_files(FILE *out)
{
    fprintf(out,
            "\nIn this folder\n"
            "  gantt.svg            this summary as a picture\n"
            "  paje.trace           every task and state of the workers: vite paje.trace\n"
            "  dag.dot              the graph of tasks: dot -Tsvg dag.dot (slow if they are many)\n"
            "  tasks.rec            one record a task; so data.rec, trace.rec for states, and\n"
            "                       comms.rec for messages between ranks\n"
            "  activity.data        for starpu_workers_activity\n"
            "  distrib.data         for starpu_codelet_profile\n"
            "  trace.fxt            what StarPU recorded, for starpu_fxt_tool\n");
}

void trace_text(FILE *out, const struct trace *t, const struct trace_stats *s)
{
    if (s->all.count > 0) {
        print_head(out, t, s);
        print_batches(out, s);
        print_workers(out, t, s);
        print_messages(out, t, s);
        print_phases(out, s);
        print_overlap(out, s);
        print_path(out, s);
        print_codelets(out, t, s);
    } else {
        fprintf(out, "No task ran.\n");
    }
    print_files(out);
}
