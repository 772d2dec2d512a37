/* SPDX-License-Identifier: Apache-2.0 */
/* floor_update.c - updates of the hand-written models: each thread has rows of every matrix, and
 * words of the table. */
#include "codelets/products/panels.h"
#include "perf/floor_run.h"

/* Threads that have trees in this batch: the others' gradients are not looked at. */
static int dense_gradients(const struct floor_run *run, const struct floor_param *p,
                           const float **grad)
{
    int n = 0;

    for (int t = 0; t < run->set->threads; t++)
        if (run->members[t].ntrees)
            grad[n++] = p->grad[t];
    return n;
}

/* A share of the rows, in multiples of a panel's columns, which the transpose's are. */
static int first_row(int rows, int thread, int threads)
{
    int row = (int)((int64_t)cavs__panels(rows) * thread / threads) * CAVS__PANEL;

    return row < rows ? row : rows;
}

static void update_matrix(const struct floor_run *run, const struct cavs__update *u, int thread,
                          struct floor_param *p)
{
    int from = first_row(p->rows, thread, run->set->threads);
    int end = first_row(p->rows, thread + 1, run->set->threads);
    const float *grad[FLOOR_THREADS];
    int n = dense_gradients(run, p, grad);
    size_t at = (size_t)from * p->cols;
    struct cavs__copy copies[2];

    for (int i = 0; i < n; i++)
        grad[i] += at;
    cavs__update_dense(u, 0, end - from, p->cols, p->w + at, p->cols, p->s0 + at, p->s1 + at, n,
                       grad, p->cols, floor_copies_from(p, from, copies), copies);
}

/* The words of the batch that are this thread's, and how often each occurs (in ptr[1 ...]). */
static int count_words(const struct floor_run *run, struct floor_touched *w, int thread)
{
    int n = 0, threads = run->set->threads;

    for (int t = 0; t < threads; t++) {
        const struct floor_levels *l = &run->members[t].part.levels;

        for (int i = 0; run->members[t].ntrees && i < l->leaves; i++) {
            int id = l->word[i];

            if (id % threads != thread)
                continue;
            if (w->stamp[id] != run->step) {
                w->stamp[id] = run->step;
                w->number[id] = n;
                w->ids[n++] = id;
                w->ptr[n] = 0;
            }
            w->ptr[w->number[id] + 1]++;
        }
    }
    return n;
}

/* Lists the rows of each word's gradients, after count_words(). */
static void list_rows(const struct floor_run *run, struct floor_touched *w, int thread, int n)
{
    int threads = run->set->threads;

    w->ptr[0] = 0;
    for (int k = 0; k < n; k++)
        w->next[k] = w->ptr[k], w->ptr[k + 1] += w->ptr[k];
    for (int t = 0; t < threads; t++) {
        const struct floor_part *p = &run->members[t].part;

        for (int i = 0; run->members[t].ntrees && i < p->levels.leaves; i++) {
            int id = p->levels.word[i], at;

            if (id % threads != thread)
                continue;
            at = w->next[w->number[id]]++;
            w->source[at] = t;
            w->row[at] = run->set->model->table_row(p, i);
        }
    }
}

static void update_table(const struct floor_run *run, const struct cavs__update *u,
                         struct floor_member *m, struct floor_param *p)
{
    struct floor_touched *w = &m->touched;
    const float *grad[FLOOR_THREADS];
    int n = count_words(run, w, m->part.thread);

    list_rows(run, w, m->part.thread, n);
    for (int t = 0; t < run->set->threads; t++)
        grad[t] = run->set->model->table_grad(&run->members[t].part);
    cavs__update_sparse(u, n, w->ids, w->ptr, w->source, w->row, p->cols, p->w, p->cols, p->s0,
                        p->s1, grad, p->cols, false);
}

static double power(double x, int64_t n)
{
    double y = 1;

    for (; n > 0; n /= 2, x *= x)
        y *= n % 2 ? x : 1;
    return y;
}

void floor_update(struct floor_member *m)
{
    const struct floor_run *run = m->run;
    struct cavs__update u = run->set->update;

    u.correction1 = (float)(1 - power(u.beta1, run->step));
    u.correction2 = (float)(1 - power(u.beta2, run->step));
    for (int i = 0; i < run->params->n; i++) {
        struct floor_param *p = &run->params->p[i];

        if (p->table)
            update_table(run, &u, m, p);
        else
            update_matrix(run, &u, m->part.thread, p);
    }
}
