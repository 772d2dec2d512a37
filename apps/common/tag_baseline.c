/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/tag_baseline.h"

#include <math.h>
#include <stdlib.h>

#include "apps/common/vocab.h"

struct token {
    int word, tag;
};

/* By tags, within them by words: so one sorting serves both counts. */
static int compare(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* Runs of one tag and word, and of one tag: the longest so far has the tag that is guessed. */
static void choose(struct tag_baseline *b, const struct token *t, size_t n, size_t *most)
{
    size_t of_tag = 0, of_pair = 0, most_of_tags = 0;

    for (size_t i = 0; i < n; i++) {
        bool same_tag = i > 0 && t[i].tag == t[i - 1].tag;

        if (t[i].tag == VOCAB_UNKNOWN)
            continue; /* no tag that anybody would guess */
        of_tag = same_tag ? of_tag + 1 : 1;
        of_pair = same_tag && t[i].word == t[i - 1].word ? of_pair + 1 : 1;
        if (of_tag > most_of_tags) {
            most_of_tags = of_tag;
            b->commonest = t[i].tag;
        }
        if (of_pair > most[t[i].word]) {
            most[t[i].word] = of_pair;
            b->of_word[t[i].word] = t[i].tag;
        }
    }
}

bool tag_baseline_learn(struct tag_baseline *b, size_t n, const int *word, const int *tag,
                        int words)
{
    struct token *tokens = malloc((n + 1) * sizeof *tokens);
    size_t *most = calloc((size_t)words + 1, sizeof *most);
    bool ok;

    b->of_word = malloc(((size_t)words + 1) * sizeof *b->of_word);
    b->words = words;
    ok = tokens && most && b->of_word;
    for (int w = 0; ok && w < words; w++)
        b->of_word[w] = -1;
    for (size_t i = 0; ok && i < n; i++)
        tokens[i] = (struct token){word[i], tag[i]};
    if (ok) {
        qsort(tokens, n, sizeof *tokens, compare);
        choose(b, tokens, n, most);
    }
    free(tokens);
    free(most);
    return ok;
}

void tag_baseline_clear(struct tag_baseline *b)
{
    free(b->of_word);
    *b = (struct tag_baseline){0};
}

int tag_baseline_guess(const struct tag_baseline *b, int word)
{
    int own = word < b->words ? b->of_word[word] : -1;

    return own < 0 ? b->commonest : own;
}

double tag_baseline_majority(const struct tag_baseline *b, size_t n, const int *tag)
{
    size_t right = 0;

    for (size_t i = 0; i < n; i++)
        right += tag[i] == b->commonest;
    return n ? (double)right / (double)n : NAN;
}

double tag_baseline_by_word(const struct tag_baseline *b, size_t n, const int *word, const int *tag)
{
    size_t right = 0;

    for (size_t i = 0; i < n; i++)
        right += tag[i] == tag_baseline_guess(b, word[i]);
    return n ? (double)right / (double)n : NAN;
}
