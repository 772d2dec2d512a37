/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - the passes over a declared model, once: after them its symbols stay as they are. */
#include "core/base/error.h"
#include "core/compile/passes.h"

static int finish_functions(struct cavs_model *m)
{
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            int rc = cavs_function_finish(m->stages[i]->functions[j]);

            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

/* They change the list of symbols: what one of them leaves half done cannot be done again. */
static int run_passes(struct cavs_model *m)
{
    int rc = cavs__pass_merge(m);

    if (!rc)
        rc = cavs__pass_share(m);
    if (!rc)
        rc = cavs__pass_autodiff(m);
    if (!rc)
        rc = cavs__pass_classify(m);
    if (rc)
        cavs__model_fail(m, rc, "%s; the model cannot be finished any more: declare another one",
                         cavs_error_message());
    return rc;
}

int cavs_model_finish(struct cavs_model *m)
{
    int rc;

    if (!m)
        return cavs__fail(CAVS_EINVAL, "cavs_model_finish(NULL)");
    if (!m->error && m->finished)
        return CAVS_OK;
    if (m->error)
        return cavs__fail(m->error, "%s", m->message ? m->message : cavs_strerror(m->error));
    rc = finish_functions(m);
    if (!rc)
        rc = cavs__model_check(m);
    if (!rc)
        rc = run_passes(m);
    if (rc)
        return rc;
    cavs__pass_live(m);
    m->most_metrics = m->nmetrics + CAVS__TAPE_METRICS;
    m->finished = true;
    return CAVS_OK;
}
