/* SPDX-License-Identifier: Apache-2.0 */
/* test_bits.c - sets of numbers as words (core/base/bits.h), beside the same as arrays of bool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/bits.h"
#include "tests/random.h"

enum { NUMBERS = 400, WORDS = (NUMBERS + CAVS__BITS_A_WORD - 1) / CAVS__BITS_A_WORD, CASES = 4000 };

/* A set within [0, n), of which `thin` in a hundred are no members, in both forms. */
static void draw(uint64_t *seed, int n, int thin, bool *members, uint64_t *words)
{
    for (int i = 0; i < WORDS; i++)
        words[i] = 0;
    for (int i = 0; i < NUMBERS; i++) {
        members[i] = i < n && random_int(seed, 0, 99) >= thin;
        if (members[i])
            cavs__bits_add(words, (size_t)i);
    }
}

static void parts_are_found_wherever_they_lie_and_taken_out(void **state)
{
    uint64_t seed = 5;
    int found = 0;

    (void)state;
    for (int c = 0; c < CASES; c++) {
        int n = random_int(&seed, 1, NUMBERS), from = random_int(&seed, 0, NUMBERS - n);
        bool set[NUMBERS], part[NUMBERS], included = true;
        uint64_t words[WORDS], part_words[WORDS];

        draw(&seed, NUMBERS, c % 3 == 0 ? 1 : 0, set, words);
        draw(&seed, n, 50, part, part_words);
        for (int i = 0; i < n; i++)
            included &= !part[i] || set[from + i];
        found += included;
        assert_int_equal(
            cavs__bits_include(words, (size_t)from, part_words, cavs__bit_words((size_t)n)),
            included);
        cavs__bits_remove(words, (size_t)from, part_words, cavs__bit_words((size_t)n));
        for (int i = 0; i < NUMBERS; i++) {
            bool left = set[i] && !(i >= from && i < from + n && part[i - from]);

            assert_int_equal((words[i / CAVS__BITS_A_WORD] & cavs__bit((size_t)i)) != 0, left);
        }
    }
    assert_in_range(found, CASES / 2, CASES - CASES / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found_wherever_they_lie_and_taken_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
