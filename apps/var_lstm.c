/* SPDX-License-Identifier: Apache-2.0 */
/*
 * var_lstm - an LSTM language model whose chains are the lines of the text, or its sentences.
 *
 * A chain is as long as its line: nothing is padded, and a batch mixes all lengths.  Compare fixed_lstm,
 * which predicts the same words.
 */
#include <stdlib.h>

#include "apps/language_model.h"

struct var_lstm {
    struct language_model lm; /* first, so that chain_end() finds the rest */
    bool sentences;
};

enum { KEY_SENTENCES = 1 };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Chains:", 1},
    {"sentences", KEY_SENTENCES, NULL, 0,
     "a chain also ends after each '.', '?' and '!' (default: only with its line)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct var_lstm *p = state->input;

    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &p->lm; return 0;
    case KEY_SENTENCES: p->sentences = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&language_model_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .children = children,
                                 .doc = "Trains an LSTM language model on chains of any length, "
                                        "the lines of a text.\v" LANGUAGE_MODEL_DOC};

/* Neither <unk>, which is what an unknown full stop would be, nor anything longer. */
static bool ends_sentence(const struct language_model *lm, int row)
{
    static const char *const stops[] = {".", "?", "!"};

    for (int i = 0; i < 3; i++) {
        if (row != VOCAB_UNKNOWN && row == vocab_find(lm->vocab, stops[i], 1))
            return true;
    }
    return false;
}

/* bsearch()'s comparison of a word's position with a line [at[0], at[1]) */
static int compare(const void *position, const void *line)
{
    const size_t *p = position, *at = line;

    return *p < at[0] ? -1 : *p >= at[1];
}

static size_t chain_end(const struct language_model *lm, const struct language_text *text,
                        size_t begin)
{
    const size_t *line = bsearch(&begin, text->line, text->lines, sizeof *text->line, compare);

    if (((const struct var_lstm *)lm)->sentences)
        for (size_t i = begin; i + 2 < line[1]; i++) /* a last <eos> stays with its sentence */
            if (ends_sentence(lm, text->stream[i + 1]))
                return i + 1;
    return line[1];
}

int main(int argc, char **argv)
{
    struct var_lstm p = {.lm = language_model_defaults("var_lstm")};

    p.lm.chain_end = chain_end;
    argp_parse(&argp, argc, argv, 0, NULL, &p);
    return language_model_main(&p.lm);
}
