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

static const struct app_option options[] = {OPTION_GROUP("Chains:"),
                                            OPTION_ROW(OPTION_INT, "steps", "N", struct fixed_lstm,
                                                       steps, OPTION_MODEL, "words in a chain", 1,
                                                       INT_MAX - 1),
                                            {0}};

static size_t chain_end(const struct language_model *lm, const struct language_text *text,
                        size_t begin)
{
    size_t steps = ((const struct fixed_lstm *)lm)->steps;

    return steps < text->words - begin ? begin + steps : text->words;
}

int main(int argc, char **argv)
{
    struct program program = language_model_program(
        "fixed_lstm",
        "Trains an LSTM language model on chains of equal length.\v" LANGUAGE_MODEL_DOC, options);
    struct fixed_lstm p = {.lm = language_model_defaults(), .steps = 64};

    p.lm.chain_end = chain_end;
    return program_main(&program, &p.lm.app, argc, argv);
}
