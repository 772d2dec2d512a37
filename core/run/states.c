/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - what the optimizer keeps of parameters, as a checkpoint reads and writes it. */
#include <string.h>

#include "core/run/window.h"

bool cavs__shares_state(const struct cavs_session *s, const struct cavs_param *p)
{
    return s->optimizer.exchange && s->optimizer.exchange->shares_of[cavs__stored(p)->number] > 0;
}

int cavs__states_of(const struct cavs_session *s, const struct cavs_param *p)
{
    int n = 0;

    if (cavs__shares_state(s, p))
        return cavs__rules[s->optimizer.rule.rule].states;
    while (n < 2 && cavs__is_there(&cavs__stored_as(s, p)->state[n]))
        n++;
    return n;
}

static bool has_state(const struct cavs_session *s, const struct cavs_param *p)
{
    return !s->optimizer.exchange || cavs__owns(s->optimizer.exchange, cavs__stored(p));
}

/* Finds the i-th range of rows of which this rank has the states.  false: there are not so many. */
static bool next_own(const struct cavs_session *s, const struct cavs_param *p, int i, int *first,
                     int *end)
{
    const struct cavs__share *own = cavs__shares_state(s, p)
                                        ? cavs__own_share(s->optimizer.exchange, cavs__stored(p), i)
                                        : NULL;

    *first = own ? own->first : 0;
    *end = own ? own->first + own->rows : p->rows;
    return own || (i == 0 && !cavs__shares_state(s, p));
}

/* Copies a state of the rows that this rank has to `out`, or from `in`, which have all rows. */
static int move_state(struct cavs_session *s, const struct cavs_param *p, int k, float *out,
                      const float *in)
{
    size_t cols = (size_t)p->cols;
    struct cavs__param_window w;

    if (!has_state(s, p))
        return CAVS_OK;
    w = cavs__open_window(&cavs__stored_as(s, p)->state[k], 0, p, in ? STARPU_RW : STARPU_R);
    for (int i = 0, r, end; next_own(s, p, i, &r, &end); i++) {
        for (; r < end; r++) {
            float *row = w.p + (r - cavs__stored_as(s, p)->states_from) * w.tensor->ld;
            size_t at = (size_t)r * cols;

            memcpy(in ? row : out + at, in ? in + at : row, cols * sizeof *row);
        }
    }
    cavs__close_window(&w);
    return CAVS_OK;
}

/* Rows that other ranks have are zeros here. */
int cavs__get_state(struct cavs_session *s, const struct cavs_param *p, int k, float *values)
{
    memset(values, 0, (size_t)p->rows * (size_t)p->cols * sizeof *values);
    return move_state(s, p, k, values, NULL);
}

int cavs__set_state(struct cavs_session *s, const struct cavs_param *p, int k, const float *values)
{
    cavs__note_given(s, p, values);
    return move_state(s, p, k, NULL, values);
}
