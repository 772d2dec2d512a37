/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_parser_decode.c - the trees that the model finds: some sentences side by side, until all are
 * done. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/peers.h"
#include "apps/common/stop.h"
#include "apps/dyn_parser.h"

static void move_all(struct dyn_parser *p, const struct parser_text *t, int first,
                     struct parser_trees *out)
{
    const float *scores = p->scores.numbers;

    for (int i = 0; i < p->n; i++)
        if (!parse_is_done(&p->readings[i].parse)) {
            parser_move(&p->shared, &p->readings[i].parse, scores, out, t->first[first + i]);
            scores += p->scores.width;
        }
}

static void keep_trees(const struct dyn_parser *p, const struct parser_text *t, int first,
                       struct parser_trees *out)
{
    for (int i = 0; i < p->n; i++) {
        const struct parse *parse = &p->readings[i].parse;
        size_t at = t->first[first + i], bytes = (size_t)parse->n * sizeof(int);

        memcpy(out->head + at, parse->head, bytes);
        memcpy(out->relation + at, parse->relation, bytes);
    }
}

static int parse_some(struct dyn_parser *p, const struct parser_text *t, const int *sentences,
                      int n, struct parser_trees *out)
{
    int rc = cavs_tape_begin(p->shared.app.tape, CAVS_TAPE_EVALUATE);

    if (rc == 0)
        rc = dyn_parser_read_all(p, t, sentences, n, false);
    if (rc == 0)
        rc = dyn_parser_compute_words(p);
    if (rc == 0)
        while ((rc = dyn_parser_score_all(p)) > 0)
            move_all(p, t, sentences[0], out);
    if (rc == 0)
        keep_trees(p, t, sentences[0], out);
    return rc;
}

int dyn_parser_parse(struct parser *shared, const struct parser_text *t, struct cavs_data *none,
                     struct parser_trees *out)
{
    struct dyn_parser *p = (struct dyn_parser *)shared;
    int most = shared->side_by_side, *sentences = malloc((size_t)most * sizeof *sentences), rc = 0;

    (void)none;
    if (!sentences)
        return CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && peers_go_on(&shared->app) && first < t->n; first += n) {
        n = t->n - first < most ? t->n - first : most;
        for (int i = 0; i < n; i++)
            sentences[i] = first + i;
        rc = parse_some(p, t, sentences, n, out);
    }
    free(sentences);
    return rc == 0 && stop_signal() ? 1 : rc;
}
