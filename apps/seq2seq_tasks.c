/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/seq2seq_tasks.h"

#include <stddef.h>
#include <string.h>

const char *const task_names[] = {"reverse", "add", NULL};

const char *task_symbols(enum task task)
{
    return task == TASK_REVERSE ? "abcdefghijklmnopqrstuvwxyz" : "0123456789+";
}

int task_most(enum task task)
{
    return task == TASK_REVERSE ? EXAMPLE_MOST - 1 : 9;
}

static void draw_reverse(int length, struct rng *r, struct example *x)
{
    int n = 1 + rng_below(r, length);

    for (int i = 0; i < n; i++)
        x->source[i] = x->answer[n - 1 - i] = 1 + rng_below(r, 26);
    x->nsource = n;
    x->nanswer = n;
}

/* Appends the digits of a number, the first one first. */
static int write_number(int value, int *out)
{
    int n = 1, rest = value;

    while (rest /= 10)
        n++;
    for (int i = n - 1; i >= 0; i--, value /= 10)
        out[i] = 1 + value % 10;
    return n;
}

/* A number of 1 to `length` digits. */
static int draw_number(int length, struct rng *r)
{
    int limit = 1;

    for (int digits = 1 + rng_below(r, length); digits > 0; digits--)
        limit *= 10;
    return rng_below(r, limit);
}

static void draw_sum(int length, struct rng *r, struct example *x)
{
    int a = draw_number(length, r), b = draw_number(length, r), n = write_number(a, x->source);
    int digits[16];

    x->source[n++] = 11;
    x->nsource = n + write_number(b, x->source + n);
    x->nanswer = write_number(a + b, digits);
    for (int i = 0; i < x->nanswer; i++)
        x->answer[i] = digits[x->nanswer - 1 - i];
}

static bool is_for_dev(const struct example *x)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (int i = 0; i < x->nsource; i++)
        h = (h ^ (uint64_t)x->source[i]) * 0x100000001b3u;
    return (h >> 20) % 10 == 0;
}

void task_draw(enum task task, int length, bool dev, struct rng *r, struct example *out)
{
    do {
        if (task == TASK_REVERSE)
            draw_reverse(length, r, out);
        else
            draw_sum(length, r, out);
    } while (is_for_dev(out) != dev);
    out->answer[out->nanswer++] = 0;
}

const char *task_sources(enum task task)
{
    return task == TASK_REVERSE ? "letters from a to z, 63 at most"
                                : "two numbers with a + between them, 63 characters at most";
}

int task_read(enum task task, const char *text, size_t n, struct example *x)
{
    const char *symbols = task_symbols(task);
    size_t plus = 0; /* its column */

    for (size_t i = 0; i < n; i++) {
        const char *symbol = i < EXAMPLE_MOST - 1 ? strchr(symbols, text[i]) : NULL;

        if (!symbol || (*symbol == '+' && (plus || i == 0)))
            return (int)i + 1;
        if (*symbol == '+')
            plus = i + 1;
        x->source[i] = 1 + (int)(symbol - symbols);
    }
    x->nsource = (int)n;
    return n == plus || (task == TASK_ADD && !plus) ? (int)n + 1 : 0;
}

void task_spell(enum task task, const int *symbols, int n, char *text)
{
    int length = 0;

    while (length < n && symbols[length] > 0) {
        text[length] = task_symbols(task)[symbols[length] - 1];
        length++;
    }
    text[length] = '\0';
}
