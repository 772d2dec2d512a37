/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the numbers of a parameter for whoever reads or writes them outside of tasks.
 *
 * A merged parameter holds its members' columns side by side: members are windows into its tensors.
 */
#ifndef CAVS_CORE_RUN_WINDOW_H
#define CAVS_CORE_RUN_WINDOW_H

#include "core/run/session.h"

/* The numbers of a parameter in a tensor of its values: rows x cols from p, ld apart. */
struct cavs__param_window {
    struct cavs__tensor *tensor;
    float *p;
    int chunk;
};

static inline struct cavs__store_entry *cavs__stored_as(const struct cavs_session *s,
                                                        const struct cavs_param *p)
{
    return s->optimizer.stored[cavs__stored(p)->number];
}

static inline struct cavs__param_window cavs__open_window(struct cavs__tensor *t, int chunk,
                                                          const struct cavs_param *p,
                                                          enum starpu_data_access_mode mode)
{
    struct cavs__param_window w = {.tensor = t, .chunk = chunk};

    w.p = cavs__tensor_acquire(t, chunk, mode) + p->merged_col;
    return w;
}

static inline void cavs__close_window(const struct cavs__param_window *w)
{
    cavs__tensor_release(w->tensor, w->chunk);
}

/* values.c: CAVS_EINVAL, reported, if the session has no such parameter, or there are no values. */
int cavs__check_param(const struct cavs_session *s, const struct cavs_param *p,
                      const float *values);
/* Notes that a call has given these numbers to a parameter, so that ranks can compare what they
 * were given. */
void cavs__note_given(struct cavs_session *s, const struct cavs_param *p, const float *values);
/* initial_values.c: writes the first numbers of a parameter, ld apart from row to row. */
void cavs__draw_initial(const struct cavs_param *p, uint64_t seed, float *values, ptrdiff_t ld);

#endif
