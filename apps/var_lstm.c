/* SPDX-License-Identifier: Apache-2.0 */
/*
 * var_lstm - an LSTM language model whose chains are the lines of the text, or its sentences.
 *
 * A chain is as long as its line: nothing is padded, and a batch mixes all lengths.  Compare
 * fixed_lstm, which predicts the same words.
 */
#include <stdlib.h>

#include "apps/language_model.h"

struct var_lstm {
    struct language_model lm; /* first, so that chain_end() finds the rest */
    bool sentences;
};

static const struct app_option options[] = {
    OPTION_GROUP("Chains:"),
    OPTION_ROW(OPTION_FLAG, "sentences", NULL, struct var_lstm, sentences, OPTION_MODEL,
               "a chain also ends after each '.', '?' and '!' (default: only with its line)"),
    {0}};

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
    struct program program =
        language_model_program("var_lstm",
                               "Trains an LSTM language model on chains of any length, the lines "
                               "of a text.\v" LANGUAGE_MODEL_DOC,
                               options);
    struct var_lstm p = {.lm = language_model_defaults()};

    p.lm.chain_end = chain_end;
    return program_main(&program, &p.lm.app, argc, argv);
}
