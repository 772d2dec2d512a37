/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed_lstm - an LSTM language model over chains of one length, as if the text had no structure.
 *
 * All chains have --steps vertices but the last, which is what is left.  Compare var_lstm.
 */
#include <limits.h>

#include "apps/language_model.h"

struct fixed_lstm {
    struct language_model lm; /* first, so that chain_end() finds the rest */
    int steps;
};

enum { KEY_STEPS = 1 };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Chains:", 1},
    {"steps", KEY_STEPS, "N", 0, "words in a chain (default 64)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fixed_lstm *p = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &p->lm; return 0;
    case KEY_STEPS: p->steps = app_int(state, "steps", arg, 1, INT_MAX - 1); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&language_model_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Trains an LSTM language model on chains of equal length.\v" LANGUAGE_MODEL_DOC};

static size_t chain_end(const struct language_model *lm, const struct language_text *text,
                        size_t begin)
{
    size_t steps = ((const struct fixed_lstm *)lm)->steps;

    return steps < text->words - begin ? begin + steps : text->words;
}

int main(int argc, char **argv)
{
    struct fixed_lstm p = {.lm = language_model_defaults("fixed_lstm"), .steps = 64};

    p.lm.chain_end = chain_end;
    argp_parse(&argp, argc, argv, 0, NULL, &p);
    return language_model_main(&p.lm);
}
