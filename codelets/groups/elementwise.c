/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - the table of element-wise operators. */
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "codelets/groups/ew_internal.h"

static const struct {
    const char *name;
    int arity;
    const char *text[3]; /* y, gradient of a, gradient of b */
} operators[] = {
#define CAVS_EW1(name, y, grad_a)         {#name, 1, {#y, #grad_a, ""}},
#define CAVS_EW2(name, y, grad_a, grad_b) {#name, 2, {#y, #grad_a, #grad_b}},
#include "codelets/groups/elementwise.def"
#undef CAVS_EW1
#undef CAVS_EW2
};

#define COUNT CAVS__EW_OPERATORS

/* What the expressions read, found in their texts. */
static char reads[COUNT][3][CAVS__EW_MAX_OPERANDS + 1];
static pthread_once_t reads_once = PTHREAD_ONCE_INIT;

int cavs__ew_token(const char *text, bool *letter)
{
    int n = 1;

    if (isalnum((unsigned char)text[0]) || text[0] == '_')
        while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.')
            n++;
    *letter = n == 1 && text[0] && strchr("absyg", text[0]);
    return n;
}

static void find_reads(int op, int which)
{
    const char *text = operators[op].text[which];
    char *to = reads[op][which];
    bool seen[128] = {false}, letter;

    for (int n; *text; text += n) {
        n = cavs__ew_token(text, &letter);
        if (letter)
            seen[(unsigned char)*text] = true;
    }
    for (const char *l = "abyg"; *l; l++)
        if (seen[(unsigned char)*l])
            *to++ = *l;
}

static void find_all_reads(void)
{
    for (int op = 0; op < COUNT; op++)
        for (int which = 0; which < 3; which++)
            find_reads(op, which);
}

/* Finds operators by the first letters of their names, taken as one number: whoever records a
 * network asks for one at every symbol. */
enum { LETTERS = 8, LISTS_BITS = 7 };
static struct {
    uint64_t letters[COUNT];
    signed char first[1 << LISTS_BITS], next[COUNT]; /* -1: no other */
} by_letters;
static pthread_once_t letters_once = PTHREAD_ONCE_INIT;
static atomic_bool letters_listed;

/* n: how many there are. */
static inline uint64_t letters_of(const char *name, int *n)
{
    uint64_t letters = 0;
    int i;

    for (i = 0; i < LETTERS && name[i]; i++)
        letters = letters << 8 | (unsigned char)name[i];
    *n = i;
    return letters;
}

static inline int list_of(uint64_t letters)
{
    return (int)(letters * 0x9e3779b97f4a7c15u >> (64 - LISTS_BITS));
}

static void list_all(void)
{
    memset(by_letters.first, -1, sizeof by_letters.first);
    for (int op = COUNT - 1; op >= 0; op--) {
        int n;
        uint64_t letters = letters_of(operators[op].name, &n);
        signed char *first = &by_letters.first[list_of(letters)];

        by_letters.letters[op] = letters;
        by_letters.next[op] = *first;
        *first = (signed char)op;
    }
    atomic_store_explicit(&letters_listed, true, memory_order_release);
}

/* The number of the operator by its letters; -1: there is none. */
static int look_up(const char *name)
{
    int n, op;
    uint64_t letters = letters_of(name, &n);

    if (!atomic_load_explicit(&letters_listed, memory_order_acquire))
        pthread_once(&letters_once, list_all);
    op = by_letters.first[list_of(letters)];
    while (op >= 0 && (by_letters.letters[op] != letters ||
                       (n == LETTERS && strcmp(name + n, operators[op].name + n) != 0)))
        op = by_letters.next[op];
    return op;
}

/* Names are mostly constants of a program, which lie side by side: the operator that was last asked
 * for by a name that lay there is a guess, to be compared. */
enum { PLACES = 1024 };
_Static_assert(COUNT <= SCHAR_MAX, "a place holds the number of any operator");

static inline int find(const char *name)
{
    static _Atomic(signed char) last[PLACES];
    _Atomic(signed char) *guess = &last[(uintptr_t)name % PLACES];
    int op = atomic_load_explicit(guess, memory_order_relaxed);

    if (strcmp(name, operators[op].name) == 0)
        return op;
    op = look_up(name);
    if (op >= 0)
        atomic_store_explicit(guess, (signed char)op, memory_order_relaxed);
    return op;
}

int cavs__ew_find(const char *name)
{
    return find(name);
}

int cavs__ew_find_of(const char *name, int arity)
{
    int op = find(name);

    return op >= 0 && operators[op].arity == arity ? op : -1;
}

int cavs__ew_count(void)
{
    return COUNT;
}

const char *cavs__ew_name(int op)
{
    return operators[op].name;
}

int cavs__ew_arity(int op)
{
    return operators[op].arity;
}

const char *cavs__ew_text(int op, int which)
{
    return operators[op].text[which];
}

const char *cavs__ew_operands(int op, int which)
{
    pthread_once(&reads_once, find_all_reads);
    return reads[op][which];
}

bool cavs__ew_is_identity(int op, int which)
{
    const char *text = operators[op].text[which];

    return text[0] && !text[1];
}
