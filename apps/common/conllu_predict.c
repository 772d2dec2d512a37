/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/conllu_predict.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/json_build.h"
#include "apps/common/predict.h"
#include "apps/common/reserve.h"
#include "apps/common/scores.h"
#include "apps/common/utf8.h"

/* ---- reading --------------------------------------------------------------------------------- */

static int open_stream(struct conllu_predictor *p, struct app *a, const struct conllu_options *o)
{
    struct conllu_options options = *o;

    options.partial = true;
    options.text = &p->text;
    return conllu_open(&p->stream, a->predictions.in, a->predictions.in_name, &options, &a->error);
}

int conllu_predictor_read(struct conllu_predictor *p, struct app *a, int most,
                          const struct conllu_options *o, const struct conllu_visitor *visitor)
{
    struct conllu_sentence s;
    int n = 0, rc = p->stream ? 0 : open_stream(p, a, o);

    if (rc < 0)
        return rc;
    conllu_text_empty(&p->text);
    while (n < most && (rc = conllu_next(p->stream, &s, &a->error)) > 0) {
        if ((rc = visitor->each(visitor->context, &s, &a->error)) < 0)
            return rc;
        n++;
    }
    p->at_end = n < most && rc == 0;
    if (n == 0)
        conllu_predictor_finish(p, a);
    return n ? n : rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

void conllu_predictor_write(struct conllu_predictor *p, struct app *a, int i,
                            const struct conllu_columns *c)
{
    conllu_write(a->predictions.out, &p->text, i, c);
}

void conllu_predictor_finish(struct conllu_predictor *p, struct app *a)
{
    if (p->at_end && !a->options.json)
        conllu_write_rest(a->predictions.out, &p->text);
}

json_t *conllu_predictor_forms(const struct conllu_predictor *p, int i)
{
    json_t *forms = json_array();
    size_t at = 0, length;
    const char *form;

    while ((form = conllu_text_form(&p->text, i, &at, &length))) {
        char *copy = strndup(form, length);

        json_build_append(&forms, copy ? utf8_to_json(copy) : NULL);
        free(copy);
    }
    return forms;
}

void conllu_predictor_clear(struct conllu_predictor *p)
{
    conllu_close(p->stream);
    conllu_text_clear(&p->text);
    free(p->ids);
}

/* ---- tags ------------------------------------------------------------------------------------ */

static int write_tags_json(struct conllu_predictor *p, struct app *a, int i, const float *rows,
                           const struct vocab *tags)
{
    json_t *sentence = json_object(), *forms = conllu_predictor_forms(p, i);
    json_t *names = json_array(), *shares = json_array();

    for (size_t v = 0; v < json_array_size(forms); v++) {
        int n = vocab_size(tags), tag = p->ids[v];

        json_build_append(&names, tag < 0 ? json_null() : utf8_to_json(vocab_word(tags, tag)));
        json_build_append(&shares, scores_to_json(rows + v * (size_t)n, n, tags, 0));
    }
    json_build_set(&sentence, "forms", forms);
    json_build_set(&sentence, "upos", names);
    json_build_set(&sentence, "probabilities", shares);
    return predictions_write_json(a, sentence);
}

static int write_tags(struct conllu_predictor *p, struct app *a, int i, int vertices,
                      const float *rows, const struct vocab *tags)
{
    struct conllu_columns c = {.upos_names = tags};
    int n = vocab_size(tags);

    if (!array_reserve(&p->ids, &p->room, (size_t)vertices, sizeof *p->ids))
        return app_fail(&a->error, CAVS_ENOMEM, "no memory for the tags of %d words", vertices);
    for (int v = 0; v < vertices; v++) {
        int tag = scores_likeliest_known(rows + (size_t)v * (size_t)n, n);

        p->ids[v] = tag == VOCAB_UNKNOWN ? -1 : tag;
    }
    c.upos = p->ids;
    if (a->options.json)
        return write_tags_json(p, a, i, rows, tags);
    conllu_predictor_write(p, a, i, &c);
    return 0;
}

int conllu_predictor_tag(struct conllu_predictor *p, struct app *a, const struct cavs_data *d,
                         const struct cavs_stage *stage, const struct vocab *tags)
{
    struct cavs_fetch fetch = {stage, CONLLU_LOGITS, NULL};
    int rc = app_rows(a, d, &fetch);
    const float *rows = fetch.rows;

    for (int i = 0; rc == 0 && i < cavs_data_size(d); i++) {
        int vertices = cavs_data_sample_vertices(d, stage, i);

        rc = write_tags(p, a, i, vertices, rows, tags);
        rows += (size_t)vertices * (size_t)vocab_size(tags);
    }
    if (rc == 0)
        conllu_predictor_finish(p, a);
    return rc;
}
