/* SPDX-License-Identifier: Apache-2.0 */
/* bilstm_tagger - named entities by a bidirectional LSTM; rare words are <unk>.  The model is in tagger.h. */
#include "apps/tagger.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tagger *t = state->input;

    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &t->packed;
    state->child_inputs[1] = t;
    return 0;
}

static const struct argp_child children[] = {
    {&packed_argp, 0, NULL, 0}, {&tagger_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .parser = parse,
    .children = children,
    .doc = "Trains a bidirectional LSTM to tag the words of sentences.\v" TAGGER_DOC};

int main(int argc, char **argv)
{
    struct tagger t = tagger_defaults("bilstm_tagger");

    argp_parse(&argp, argc, argv, 0, NULL, &t);
    return tagger_main(&t);
}
