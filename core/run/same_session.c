/* SPDX-License-Identifier: Apache-2.0 */
/* same_session.c - whether all ranks have made the same session: what one of another kind sends,
 * the others have no place for. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/ranks/ranks.h"
#include "core/run/session.h"

/* ---- in words ---- */

/* In the shortest form that is the same float: 0.001, not 0.00100000005.  Options are spelled like
 * that, too (apps/common/option_values.c), which are not the library's. */
static void describe_number(FILE *to, const char *name, float value)
{
    char text[32];

    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    fprintf(to, ", %s %s", name, text);
}

/* Writes the options that have a part in results.  Others, such as the grain of tasks, may differ
 * from machine to machine. */
static void describe_options(FILE *to, const struct cavs_session *s)
{
    const struct cavs_session_options *o = &s->options;

    fprintf(to, "%d shards%s, %s", s->engine.nshards,
            o->shards                       ? ""
            : s->rt->shards == s->rt->cores ? " (one a core)"
                                            : " (one a device)",
            cavs_optimizer_name(o->optimizer));
    describe_number(to, "lr", o->lr);
    describe_number(to, "clip", o->clip);
    describe_number(to, "scale", o->scale);
    fprintf(to, "%s, seed %llu, %s, %s", o->mean ? " of the mean" : "", (unsigned long long)o->seed,
            cavs_policy_name(o->policy), cavs_precision_name(o->precision));
    fprintf(to, "%s%s%s%s%s%s", o->inference ? ", inference" : "", o->no_lazy ? ", no lazy" : "",
            o->no_eager ? ", no eager" : "", o->no_fusion ? ", no fusion" : "",
            o->no_dedup ? ", no dedup" : "", o->check_finite ? ", check finite" : "");
    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++)
        describe_number(to, h->name, *cavs__number_at(o, h->option));
}

static void describe_model(FILE *to, const struct cavs_session *s)
{
    for (int i = 0; i < cavs_model_param_count(s->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(s->model, i);

        fprintf(to, "%s%s %d x %d", i ? ", " : "", cavs_param_name(p), cavs_param_rows(p),
                cavs_param_cols(p));
    }
}

/* ---- on all ranks ---- */

static int compare(struct cavs_session *s, const char *what,
                   void (*describe)(FILE *to, const struct cavs_session *s))
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    int rc = CAVS_OK;

    if (to)
        describe(to, s);
    if (!to || fclose(to) != 0)
        rc = cavs__fail_nomem(what, BUFSIZ);
    rc = cavs__ranks_agree_on(s->rt->ranks, what, rc);
    if (!rc)
        rc = cavs__ranks_same(s->rt->ranks, what, text);
    free(text);
    return rc;
}

int cavs__session_agree(struct cavs_session *s, int rc)
{
    if (!s->rt->ranks)
        return rc;
    rc = cavs__ranks_agree_on(s->rt->ranks, "session", rc);
    if (!rc)
        rc = compare(s, "the model", describe_model);
    return rc ? rc : compare(s, "the session", describe_options);
}
