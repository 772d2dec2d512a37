/* SPDX-License-Identifier: Apache-2.0 */
/* zoo.c - finding models, and the parts they share. */
#include "tests/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct zoo_entry *const rooms[] = {zoo_trees, zoo_chains, zoo_stages, zoo_oddities,
                                                zoo_lists};

const struct zoo_entry *zoo_at(int i)
{
    for (size_t room = 0; room < sizeof rooms / sizeof *rooms; room++) {
        for (const struct zoo_entry *z = rooms[room]; z->name; z++) {
            if (i-- == 0)
                return z;
        }
    }
    return NULL;
}

int zoo_count(void)
{
    int n = 0;
    while (zoo_at(n))
        n++;
    return n;
}

const struct zoo_entry *zoo_find(const char *name)
{
    for (int i = 0; zoo_at(i); i++) {
        if (!strcmp(zoo_at(i)->name, name))
            return zoo_at(i);
    }
    fprintf(stderr, "zoo: there is no model %s\n", name);
    abort();
}

int zoo_samples(const struct zoo_entry *z)
{
    int n = 0;
    while (n < ZOO_SAMPLES && z->samples[n])
        n++;
    return n;
}

struct cavs_model *zoo_model(const struct zoo_entry *z)
{
    struct cavs_model *m;
    if (cavs_model_create(&m) == 0) {
        z->build(m);
        if (cavs_model_finish(m) == 0)
            return m;
    }
    fprintf(stderr, "zoo: model %s: %s\n", z->name, cavs_error_message());
    abort();
}

struct cavs_param *zoo_weight(struct cavs_model *m, const char *name, int rows, int cols)
{
    return cavs_model_param(m, name, rows, cols, CAVS_UNIFORM(-0.6f, 0.6f));
}

struct cavs_symbol *zoo_state(struct cavs_function *f, struct cavs_symbol *h, struct cavs_symbol *c)
{
    struct cavs_symbol *state = cavs_concat(2, ((struct cavs_symbol *[]){h, c}));
    cavs_scatter(f, state);
    return state;
}

void zoo_classify(struct cavs_model *m, struct cavs_stage *base, const char *channel, int width,
                  int classes)
{
    struct cavs_stage *head = cavs_stage_over(m, "head", base, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(head, "classify");
    struct cavs_symbol *label = cavs_pull_ids(f, "label");
    struct cavs_symbol *logits =
        cavs_affine(cavs_pull_from(f, base, channel, NULL),
                    zoo_weight(m, "W_class", width, classes), zoo_weight(m, "b_class", 1, classes));
    cavs_push(f, "logits", logits);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "accuracy", cavs_correct(logits, label), label);
}

void zoo_lstm_end(struct cavs_function *f, struct cavs_symbol *i, struct cavs_symbol *o,
                  struct cavs_symbol *u, struct cavs_symbol *forgotten)
{
    struct cavs_symbol *c = cavs_mul(cavs_sigmoid(i), cavs_tanh(u));
    if (forgotten)
        c = cavs_add(c, forgotten);
    struct cavs_symbol *h = cavs_mul(cavs_sigmoid(o), cavs_tanh(c));
    zoo_state(f, h, c);
    cavs_push(f, "h", h);
}
