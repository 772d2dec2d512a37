/* SPDX-License-Identifier: Apache-2.0 */
/* test_hash_table.c - the hash table of the library (core/base/hash_table.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/hash_table.h"
#include "tests/random.h"

enum { THINGS = 3000 };

/* Numbers, as things that are looked up. */
static uint64_t thing[THINGS];

static int32_t find(const struct cavs__table *t, uint32_t hash, uint64_t wanted)
{
    struct cavs__probe p = cavs__table_probe(t, hash);
    int32_t i;

    while ((i = cavs__probe_at(&p)) >= 0 && thing[i] != wanted)
        cavs__probe_step(&p);
    return i;
}

/* Hashes of few bits: many things have the same, and the same place. */
static uint32_t hash_of(uint64_t x, int bits)
{
    return (uint32_t)((cavs__mixed(cavs__mix(0, x)) >> (32 - bits)) * 0x9e3779b9u);
}

static void what_was_put_is_found_while_the_table_grows(void **state)
{
    (void)state;
    for (int bits = 1; bits <= 32; bits += 10) {
        struct cavs__table t = {0};
        uint64_t seed = 7;

        for (int i = 0; i < THINGS; i++) {
            thing[i] = random_next(&seed);
            assert_true(cavs__table_grow(&t, (size_t)i + 1));
            assert_int_equal(find(&t, hash_of(thing[i], bits), thing[i]), -1);
            cavs__table_put(&t, hash_of(thing[i], bits), i);
            assert_int_equal(find(&t, hash_of(thing[i / 2], bits), thing[i / 2]), i / 2);
        }
        for (int i = 0; i < THINGS; i++)
            assert_int_equal(find(&t, hash_of(thing[i], bits), thing[i]), i);
        cavs__table_free(&t);
    }
}

/* At the end of the table, too, where the search goes on at its beginning. */
static void things_of_one_hash_come_in_the_order_in_which_they_were_put(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        uint32_t hash = k ? UINT32_MAX : 0;
        struct cavs__table t = {0};
        struct cavs__probe p;

        assert_true(cavs__table_begin(&t, 100));
        for (int i = 0; i < 50; i++) {
            cavs__table_put(&t, hash, i);
            cavs__table_put(&t, hash - 1, i + 50);
        }
        p = cavs__table_probe(&t, hash);
        for (int i = 0; i < 50; i++, cavs__probe_step(&p))
            assert_int_equal(cavs__probe_at(&p), i);
        assert_int_equal(cavs__probe_at(&p), -1);
        cavs__table_free(&t);
    }
}

static void a_table_that_begins_again_is_empty_and_keeps_its_memory(void **state)
{
    (void)state;
    struct cavs__table t = {0};
    const void *memory;

    assert_true(cavs__table_begin(&t, 1000));
    memory = t.entries;
    for (size_t n = 1000; n > 0; n /= 10) {
        cavs__table_put(&t, 0x12345678, 5);
        assert_true(cavs__table_begin(&t, n));
        assert_ptr_equal(t.entries, memory);
        thing[5] = 1;
        assert_int_equal(find(&t, 0x12345678, 1), -1);
    }
    cavs__table_free(&t);
    assert_null(t.entries);
}

/* Places differ for what differs in the first or the last thing mixed, in low bits or high ones. */
static void hashes_of_similar_things_spread(void **state)
{
    (void)state;
    for (int shift = 0; shift < 64; shift++) {
        for (int behind = 0; behind < 3; behind++) {
            bool taken[256] = {false};
            int things = shift <= 57 ? 128 : 1 << (64 - shift), places = 0;

            for (uint64_t x = 0; x < (uint64_t)things; x++) {
                uint64_t h = cavs__mix(3, x << shift);

                for (int i = 0; i < behind; i++)
                    h = cavs__mix(h, 1);
                places += !taken[cavs__mixed(h) >> 24];
                taken[cavs__mixed(h) >> 24] = true;
            }
            assert_in_range(places, things / 3, things);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_while_the_table_grows),
        cmocka_unit_test(things_of_one_hash_come_in_the_order_in_which_they_were_put),
        cmocka_unit_test(a_table_that_begins_again_is_empty_and_keeps_its_memory),
        cmocka_unit_test(hashes_of_similar_things_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
