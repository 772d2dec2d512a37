/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - a model compiled for execution; see plan.h. */
#include "core/compile/plan.h"

#include <stdlib.h>

#include "codelets/device_set.h"
#include "codelets/groups/elementwise.h"
#include "core/base/error.h"
#include "core/compile/place.h"

static int plan_functions(struct cavs__plan *p)
{
    for (int i = 0; i < p->model->nstages; i++) {
        for (int j = 0; j < p->model->stages[i]->nfunctions; j++) {
            int rc = cavs__place_function(p, p->model->stages[i]->functions[j]);

            if (rc)
                return rc;
        }
    }
    for (int i = 0; i < p->model->nstages; i++) {
        struct cavs__stage_plan *sp = &p->stages[i];

        cavs__sort_kinds(sp);
        for (int j = 0; j < sp->nkinds; j++) {
            int rc = cavs__bind_kind(p, sp->kinds[j]);

            if (rc)
                return rc;
        }
        cavs__find_streamed(sp, &p->options);
    }
    return CAVS_OK;
}

int cavs__plan_create(const struct cavs_model *m, const struct cavs__plan_options *options,
                      struct cavs__plan **out)
{
    struct cavs__plan *p = calloc(1, sizeof *p);
    size_t n = (size_t)m->nstored + 1;
    int rc = CAVS_OK;

    if (!p)
        return cavs__fail_nomem("plan", sizeof *p);
    p->model = m;
    p->options = *options;
    p->nstages = m->nstages;
    p->stages = calloc((size_t)m->nstages + 1, sizeof *p->stages);
    p->param = calloc(n, sizeof *p->param);
    p->copies = calloc(n, sizeof *p->copies);
    p->grad = calloc(n, sizeof *p->grad);
    if (!p->stages || !p->param || !p->copies || !p->grad)
        rc = cavs__fail_nomem("plan: tensors", n * (2 * sizeof *p->param + sizeof *p->copies) +
                                                   ((size_t)m->nstages + 1) * sizeof *p->stages);
    if (!rc)
        rc = cavs__plan_params(p);
    for (int i = 0; i < m->nstages && !rc; i++)
        rc = cavs__plan_stage(p, m->stages[i]);
    cavs__ew_batch_begin();
    if (!rc)
        rc = plan_functions(p);
    cavs__ew_batch_end();
    if (rc) {
        cavs__plan_destroy(p);
        return rc;
    }
    *out = p;
    return CAVS_OK;
}

void cavs__plan_destroy(struct cavs__plan *p)
{
    if (!p)
        return;
    for (int i = 0; p->stages && i < p->nstages; i++)
        cavs__stage_plan_destroy(&p->stages[i]);
    cavs__devices->groups_destroy(p->groups);
    for (int i = 0; i < p->ntensors; i++)
        free(p->tensors[i].name);
    free(p->tensors);
    free(p->stages);
    free(p->param);
    free(p->copies);
    free(p->grad);
    free(p);
}
