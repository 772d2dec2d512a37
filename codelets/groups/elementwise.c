/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - the table of element-wise operators. */
#include <ctype.h>
#include <pthread.h>
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

int cavs__ew_find(const char *name)
{
    int op = 0;

    while (op < COUNT && strcmp(operators[op].name, name) != 0)
        op++;
    return op < COUNT ? op : -1;
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

bool cavs__ew_passes(int op)
{
    bool passes = false;

    for (int i = 1; i <= operators[op].arity; i++)
        passes |= *cavs__ew_operands(op, i) != 0;
    return passes;
}
