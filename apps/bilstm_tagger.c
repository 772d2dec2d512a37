/* SPDX-License-Identifier: Apache-2.0 */
/* bilstm_tagger - named entities by a bidirectional LSTM; rare words are <unk>.  The model is in
 * tagger.h. */
#include "apps/tagger.h"

static const struct app_option options[] = {TAGGER_OPTIONS, {0}};

int main(int argc, char **argv)
{
    struct tagger t = tagger_defaults();
    struct program p = tagger_declared(&t);

    p.name = "bilstm_tagger";
    p.doc = "Trains a bidirectional LSTM to tag the words of sentences.\v" TAGGER_DOC;
    p.options = options;
    p.reads_packed = true;
    p.twin = "dyn_tagger";
    return program_main(&p, &t.app, argc, argv);
}
