/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_tagger - bilstm_tagger recorded on a tape; see dyn_tagger.h. */
#include "apps/dyn_tagger.h"

static const struct app_option options[] = {TAGGER_OPTIONS, {0}};

int main(int argc, char **argv)
{
    struct dyn_tagger t = dyn_tagger_defaults();
    struct program p = dyn_tagger_program(&t);
    int status;

    p.name = "dyn_tagger";
    p.doc =
        "Trains a bidirectional LSTM to tag the words of sentences: bilstm_tagger, but recorded "
        "on a tape.\v" TAGGER_DOC;
    p.options = options;
    p.twin = "bilstm_tagger";
    status = program_main(&p, &t.shared.app, argc, argv);
    dyn_tagger_clear(&t);
    return status;
}
