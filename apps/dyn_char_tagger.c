/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_char_tagger - bilstm_char_tagger recorded on a tape; see dyn_tagger.h. */
#include "apps/dyn_tagger.h"

static const struct app_option options[] = {
    TAGGER_OPTIONS,
    OPTION_GROUP("Characters:"),
    OPTION_ROW(OPTION_INT, "char-embed", "N", struct dyn_tagger, char_embed, OPTION_MODEL,
               "width of a character's embedding", 1, 1 << 20),
    {0}};

int main(int argc, char **argv)
{
    struct dyn_tagger t = dyn_tagger_defaults();
    struct program p = dyn_tagger_program(&t);
    int status;

    t.char_embed = 32;
    p.name = "dyn_char_tagger";
    p.doc = "Trains a bidirectional LSTM to tag the words of sentences; rare words are spelt: "
            "bilstm_char_tagger, but recorded on a tape.\v" TAGGER_DOC TAGGER_CHARS_DOC;
    p.options = options;
    p.check = tagger_check_halves;
    p.twin = "bilstm_char_tagger";
    status = program_main(&p, &t.shared.app, argc, argv);
    dyn_tagger_clear(&t);
    return status;
}
