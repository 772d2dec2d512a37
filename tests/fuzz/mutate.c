/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/mutate.h"

#include <string.h>

#include "tests/random.h"

struct input {
    uint8_t *data;
    size_t size, room;
    uint64_t random;
};

/* 0 .. n-1; 0 of nothing */
static size_t below(struct input *in, size_t n)
{
    return n ? (size_t)random_int(&in->random, 0, (int)n - 1) : 0;
}

static void flip_bit(struct input *in)
{
    if (in->size)
        in->data[below(in, in->size)] ^= (uint8_t)(1u << below(in, 8));
}

static void set_byte(struct input *in)
{
    static const uint8_t odd[] = "\0\xff\x7f\x80 \t\r\n()|_-.:,0123456789eEnax\"{}[]#/";

    if (in->size)
        in->data[below(in, in->size)] = odd[below(in, sizeof odd - 1)];
}

static void truncate_at(struct input *in)
{
    in->size = below(in, in->size);
}

static void delete_range(struct input *in)
{
    size_t at = below(in, in->size), n = below(in, in->size - at < 32 ? in->size - at : 32);

    memmove(in->data + at, in->data + at + n, in->size - at - n);
    in->size -= n;
}

/* Makes a gap and fills it with what stands elsewhere. */
static void copy_range(struct input *in)
{
    size_t n = below(in, in->size < 32 ? in->size : 32), from = below(in, in->size - n);
    size_t to = below(in, in->size);
    uint8_t piece[32];

    if (in->size + n > in->room)
        return;
    memcpy(piece, in->data + from, n);
    memmove(in->data + to + n, in->data + to, in->size - to);
    memcpy(in->data + to, piece, n);
    in->size += n;
}

static void insert_number(struct input *in)
{
    static const char *const numbers[] = {"-1",  "0",  "2147483647",          "4294967296", "1e999",
                                          "nan", "-0", "9223372036854775808", "0x1p-1074",  "1.1"};
    const char *text = numbers[below(in, sizeof numbers / sizeof *numbers)];
    size_t n = strlen(text), at = below(in, in->size);

    if (in->size + n > in->room)
        return;
    memmove(in->data + at + n, in->data + at, in->size - at);
    memcpy(in->data + at, text, n);
    in->size += n;
}

size_t fuzz_mutate(uint8_t *data, size_t size, size_t room, uint64_t seed)
{
    static void (*const changes[])(struct input *) = {flip_bit,      flip_bit,     set_byte,
                                                      set_byte,      delete_range, copy_range,
                                                      insert_number, truncate_at};
    struct input in = {data, size, room, seed};
    size_t n = 1 + below(&in, 4);

    while (n--)
        changes[below(&in, sizeof changes / sizeof *changes)](&in);
    return in.size;
}
