/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; at most half of the slots are in use.  The library's hash
 * table (core/base/hash_table.h) is not part of its interface, and those of the C library
 * (hsearch_r(3)) neither grow nor take words with a zero in them. */
#include "apps/common/vocab.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"

struct entry {
    char *word;
    size_t length;
    long count;
};

struct vocab {
    struct entry *entries; /* by id */
    size_t size, capacity;
    int *slots; /* id, or -1 for a free slot */
    size_t nslots;
};

static uint64_t fnv1a(const char *word, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)word[i]) * 0x100000001b3u;
    return h;
}

/* The slot that holds the word, or the free one where it belongs. */
static size_t slot_of(const struct vocab *v, const char *word, size_t length)
{
    size_t slot = fnv1a(word, length) & (v->nslots - 1);

    for (;; slot = (slot + 1) & (v->nslots - 1)) {
        const struct entry *e;

        if (v->slots[slot] < 0)
            return slot;
        e = &v->entries[v->slots[slot]];
        if (e->length == length && memcmp(e->word, word, length) == 0)
            return slot;
    }
}

static bool rehash(struct vocab *v, size_t nslots)
{
    int *slots = malloc(nslots * sizeof *slots);

    if (!slots)
        return false;
    free(v->slots);
    v->slots = slots;
    v->nslots = nslots;
    memset(slots, -1, nslots * sizeof *slots);
    for (size_t id = 0; id < v->size; id++)
        slots[slot_of(v, v->entries[id].word, v->entries[id].length)] = id;
    return true;
}

struct vocab *vocab_create(void)
{
    struct vocab *v = calloc(1, sizeof *v);

    if (!v || !rehash(v, 1024) || vocab_add(v, "<unk>", 5) != VOCAB_UNKNOWN) {
        vocab_destroy(v);
        return NULL;
    }
    v->entries[VOCAB_UNKNOWN].count = 0;
    return v;
}

void vocab_destroy(struct vocab *v)
{
    if (!v)
        return;
    for (size_t id = 0; id < v->size; id++)
        free(v->entries[id].word);
    free(v->entries);
    free(v->slots);
    free(v);
}

static int add_new(struct vocab *v, const char *word, size_t length)
{
    char *copy;

    if (v->size == INT_MAX || (2 * (v->size + 1) > v->nslots && !rehash(v, 2 * v->nslots)))
        return -1;
    if (!array_reserve(&v->entries, &v->capacity, v->size + 1, sizeof *v->entries))
        return -1;
    copy = malloc(length + 1);
    if (!copy)
        return -1;
    memcpy(copy, word, length);
    copy[length] = '\0';
    v->slots[slot_of(v, word, length)] = v->size;
    v->entries[v->size] = (struct entry){.word = copy, .length = length, .count = 1};
    return v->size++;
}

int vocab_add(struct vocab *v, const char *word, size_t length)
{
    int id = v->slots[slot_of(v, word, length)];

    if (id < 0)
        return add_new(v, word, length);
    v->entries[id].count++;
    return id;
}

void vocab_seen(struct vocab *v, int id, long n)
{
    v->entries[id].count += n;
}

int vocab_find(const struct vocab *v, const char *word, size_t length)
{
    int id = v->slots[slot_of(v, word, length)];

    return id < 0 ? VOCAB_UNKNOWN : id;
}

int vocab_size(const struct vocab *v)
{
    return v->size;
}

const char *vocab_word(const struct vocab *v, int id)
{
    return v->entries[id].word;
}

long vocab_count(const struct vocab *v, int id)
{
    return v->entries[id].count;
}

/* Forgets the words whose map is 0; the others get their new ids there.  Takes the map over. */
static int *forget(struct vocab *v, int *map)
{
    size_t kept = 1;

    for (size_t id = 1; id < v->size; id++) {
        if (!map[id]) {
            v->entries[VOCAB_UNKNOWN].count += v->entries[id].count;
            free(v->entries[id].word);
        } else {
            v->entries[kept] = v->entries[id];
            map[id] = kept++;
        }
    }
    v->size = kept;
    memset(v->slots, -1, v->nslots * sizeof *v->slots);
    for (size_t id = 0; id < kept; id++)
        v->slots[slot_of(v, v->entries[id].word, v->entries[id].length)] = id;
    return map;
}

int *vocab_trim(struct vocab *v, long min_count)
{
    int *map = calloc(v->size, sizeof *map);

    if (!map)
        return NULL;
    for (size_t id = 1; id < v->size; id++)
        map[id] = v->entries[id].count >= min_count;
    return forget(v, map);
}

struct counted {
    int id;
    long count;
};

/* The commoner first, then the earlier. */
static int compare(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

int *vocab_keep(struct vocab *v, int n)
{
    int *map = calloc(v->size, sizeof *map), words = v->size - 1;
    struct counted *order = malloc(v->size * sizeof *order);

    if (!map || !order) {
        free(map);
        free(order);
        return NULL;
    }
    for (int i = 0; i < words; i++)
        order[i] = (struct counted){.id = i + 1, .count = v->entries[i + 1].count};
    qsort(order, words, sizeof *order, compare);
    for (int i = 0; i < words && i < n; i++)
        map[order[i].id] = 1;
    free(order);
    return forget(v, map);
}
