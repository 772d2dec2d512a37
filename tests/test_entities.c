/* SPDX-License-Identifier: Apache-2.0 */
/* Entities that tags mark, against counts made by hand and against conlleval's rules word by word;
 * and the guesses of tags that need no model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apps/common/entities.h"
#include "apps/common/tag_baseline.h"
#include "tests/random.h"

enum { MOST_WORDS = 16 };

/* ---- helpers --------------------------------------------------------------------------------- */

/* Ids of the tags, which are words between spaces; how many. */
static int read_tags(struct vocab *names, const char *text, int *tags)
{
    int n = 0;

    for (const char *s = text; *s; n++) {
        size_t length = strcspn(s, " ");
        bool unknown = strncmp(s, "<unk>", length) == 0;

        tags[n] = unknown ? VOCAB_UNKNOWN : vocab_add(names, s, length);
        s += length + strspn(s + length, " ");
    }
    return n;
}

static struct entity_counts count(const char *gold, const char *predicted)
{
    struct vocab *names = vocab_create();
    struct entity_counts c = {0};
    int g[MOST_WORDS], p[MOST_WORDS], n;

    assert_non_null(names);
    n = read_tags(names, gold, g);
    assert_int_equal(n, read_tags(names, predicted, p));
    entities_count(&c, names, n, g, p);
    vocab_destroy(names);
    return c;
}

struct counted {
    const char *gold, *predicted;
    int entities, guesses, correct;
};

static void check_counts(const struct counted *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct counted *t = &all[i];
        struct entity_counts c = count(t->gold, t->predicted);

        if (c.gold != t->entities || c.predicted != t->guesses || c.correct != t->correct)
            fail_msg("'%s' and '%s': %d, %d, %d instead of %d, %d, %d", t->gold, t->predicted,
                     (int)c.gold, (int)c.predicted, (int)c.correct, t->entities, t->guesses,
                     t->correct);
    }
}

#define CHECK(all) check_counts(all, sizeof(all) / sizeof *(all))

/* ---- entities by hand ------------------------------------------------------------------------ */

static void entities_begin_at_b_or_at_i_after_something_else(void **state)
{
    static const struct counted all[] = {
        {"O O O", "O O O", 0, 0, 0},
        {"I-PER I-PER O", "I-PER I-PER O", 1, 1, 1},
        {"B-PER I-PER O", "I-PER I-PER O", 1, 1, 1},         /* the schemes mean the same */
        {"I-PER B-PER I-PER", "I-PER I-PER I-PER", 2, 1, 0}, /* B- parts neighbours */
        {"B-PER B-PER B-PER", "B-PER I-PER B-PER", 3, 2, 1}, /* the last */
        {"I-PER I-LOC O", "I-PER I-LOC I-LOC", 2, 2, 1},     /* another type begins anew */
        {"B-PER I-LOC O", "B-PER B-LOC O", 2, 2, 2},         /* even after B- of the other */
        {"O I-PER O I-PER", "O I-PER I-PER I-PER", 2, 1, 0}, /* O parts */
        {"I-PER I-PER O I-ORG", "I-PER O O I-ORG", 2, 2, 1}, /* a part is not the whole */
        {"I-PER I-PER", "I-LOC I-LOC", 1, 1, 0},             /* nor another type */
        {"O O I-MISC", "I-MISC O I-MISC", 1, 2, 1},
        {"I-A-B I-A-B", "I-A-B B-A-B", 1, 2, 0}, /* a type may have a '-' */
        {"I-PER", "O", 1, 0, 0},
        {"", "", 0, 0, 0},
    };

    (void)state;
    CHECK(all);
}

static void entities_end_after_e_and_s(void **state)
{
    static const struct counted all[] = {
        {"B-PER I-PER E-PER S-PER", "I-PER I-PER I-PER B-PER", 2, 2, 2},
        {"B-PER E-PER E-PER", "B-PER I-PER B-PER", 2, 2, 2},
        {"S-LOC I-LOC", "I-LOC B-LOC", 2, 2, 2},
        {"O E-LOC I-LOC", "O B-LOC B-LOC", 2, 2, 2},
    };

    (void)state;
    CHECK(all);
}

static void other_tags_are_words_of_their_own(void **state)
{
    static const struct counted all[] = {
        {"PER PER O LOC", "PER PER O PER", 3, 3, 2},
        {"NN VB", "NN NN", 2, 2, 1},
        {"B I O", "B I O", 2, 2, 2}, /* without a type */
    };

    (void)state;
    CHECK(all);
}

static void unknown_tags_in_a_row_are_one_entity(void **state)
{
    static const struct counted all[] = {
        {"<unk> <unk> O <unk>", "I-PER I-PER O O", 2, 1, 0},
        {"I-PER <unk> I-PER", "I-PER O I-PER", 3, 2, 2},
    };

    (void)state;
    CHECK(all);
}

static void shares_are_those_of_the_counts(void **state)
{
    struct entity_counts c = {.gold = 8, .predicted = 5, .correct = 4}, none = {0};

    (void)state;
    assert_true(fabs(entities_precision(&c) - 4.0 / 5) < 1e-12);
    assert_true(fabs(entities_recall(&c) - 4.0 / 8) < 1e-12);
    assert_true(fabs(entities_f1(&c) - 2 * 0.8 * 0.5 / (0.8 + 0.5)) < 1e-12);
    assert_true(entities_precision(&none) == 0 && entities_recall(&none) == 0);
    assert_true(entities_f1(&none) == 0);
}

/* ---- entities as conlleval finds them -------------------------------------------------------- */

static const char *const names[] = {"O", "B-X", "I-X", "E-X", "B-Y", "I-Y", "E-Y"};
enum { NAMES = sizeof names / sizeof *names };

static char place(int tag)
{
    return names[tag][0];
}

static char type(int tag)
{
    return place(tag) == 'O' ? '-' : names[tag][2];
}

/* conlleval's rules about two neighbours: does an entity end behind the first, or begin at the
 * second? */
static bool ends(int a, int b)
{
    const char pair[] = {place(a), place(b), '\0'};

    return strstr("BB BO IB IO EE EI EB EO", pair) || (place(a) != 'O' && type(a) != type(b));
}

static bool begins(int a, int b)
{
    const char pair[] = {place(a), place(b), '\0'};

    return strstr("BB IB OB OI EE EI EB OE", pair) || (place(b) != 'O' && type(a) != type(b));
}

/* Word by word with one bit of memory, as the script does it; behind the last word there is an
 * O. */
static struct entity_counts by_rules(int n, const int *gold, const int *predicted)
{
    struct entity_counts c = {0};
    bool both = false;

    for (int i = 0, g0 = 0, p0 = 0; i <= n; i++) {
        int g = i < n ? gold[i] : 0, p = i < n ? predicted[i] : 0;

        c.correct += both && ends(g0, g) && ends(p0, p);
        if (ends(g0, g) || ends(p0, p) || type(g) != type(p))
            both = false;
        if (begins(g0, g) && begins(p0, p) && type(g) == type(p))
            both = true;
        c.gold += begins(g0, g);
        c.predicted += begins(p0, p);
        g0 = g;
        p0 = p;
    }
    return c;
}

static void add_names(struct vocab *tags)
{
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(vocab_add(tags, names[i], strlen(names[i])), i + 1);
}

static void random_tags_are_counted_as_conlleval_does(void **state)
{
    struct vocab *tags = vocab_create();
    int64_t correct = 0;
    uint64_t r = 1;

    (void)state;
    assert_non_null(tags);
    add_names(tags);
    for (int round = 0; round < 20000; round++) {
        int gold[MOST_WORDS], predicted[MOST_WORDS], g[MOST_WORDS], p[MOST_WORDS];
        int n = random_int(&r, 0, MOST_WORDS);
        struct entity_counts want, got = {0};

        for (int i = 0; i < n; i++) {
            gold[i] = random_int(&r, 0, NAMES - 1);
            predicted[i] = random_int(&r, 0, 3) ? gold[i] : random_int(&r, 0, NAMES - 1);
            g[i] = gold[i] + 1;
            p[i] = predicted[i] + 1;
        }
        want = by_rules(n, gold, predicted);
        entities_count(&got, tags, n, g, p);
        if (memcmp(&want, &got, sizeof want) != 0)
            fail_msg("round %d", round);
        correct += got.correct;
    }
    assert_true(correct > 20000);
    vocab_destroy(tags);
}

/* ---- guesses --------------------------------------------------------------------------------- */

static void guesses_are_the_commonest_tags(void **state)
{
    static const int word[] = {1, 2, 1, 1, 3, 3, 2}, tag[] = {5, 5, 4, 4, 9, 5, 5};
    static const int new_word[] = {1, 2, 3, 0, 8}, new_tag[] = {4, 5, 5, 5, 9};
    struct tag_baseline b = {0};

    (void)state;
    assert_true(tag_baseline_learn(&b, 7, word, tag, 4));
    /* tag 5, four times of seven */
    assert_true(fabs(tag_baseline_majority(&b, 5, new_tag) - 3.0 / 5) < 1e-12);
    /* 1: 4, twice of three times; 2: 5; 3: 5 and 9, of which 5 is the first; 0 and 8 were not seen:
     * 5 */
    assert_true(fabs(tag_baseline_by_word(&b, 5, new_word, new_tag) - 4.0 / 5) < 1e-12);
    assert_int_equal(tag_baseline_guess(&b, 1), 4);
    assert_int_equal(tag_baseline_guess(&b, 8), 5);
    assert_true(isnan(tag_baseline_majority(&b, 0, new_tag)));
    assert_true(isnan(tag_baseline_by_word(&b, 0, new_word, new_tag)));
    tag_baseline_clear(&b);
}

static void unknown_tags_are_not_guessed(void **state)
{
    static const int word[] = {1, 1, 1, 2, 2}, tag[] = {0, 0, 3, 0, 0}, gold[] = {0, 3, 0};
    struct tag_baseline b = {0};

    (void)state;
    assert_true(tag_baseline_learn(&b, 5, word, tag, 3));
    assert_int_equal(tag_baseline_guess(&b, 1), 3);
    assert_int_equal(tag_baseline_guess(&b, 2), 3);
    assert_true(fabs(tag_baseline_majority(&b, 3, gold) - 1.0 / 3) < 1e-12);
    assert_true(fabs(tag_baseline_by_word(&b, 3, word, gold) - 1.0 / 3) < 1e-12);
    tag_baseline_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entities_begin_at_b_or_at_i_after_something_else),
        cmocka_unit_test(entities_end_after_e_and_s),
        cmocka_unit_test(other_tags_are_words_of_their_own),
        cmocka_unit_test(unknown_tags_in_a_row_are_one_entity),
        cmocka_unit_test(shares_are_those_of_the_counts),
        cmocka_unit_test(random_tags_are_counted_as_conlleval_does),
        cmocka_unit_test(guesses_are_the_commonest_tags),
        cmocka_unit_test(unknown_tags_are_not_guessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
