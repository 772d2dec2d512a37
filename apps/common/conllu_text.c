/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences as they stand in their file, and back with other columns. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/conllu.h"
#include "apps/common/reserve.h"

bool conllu_text_end(struct conllu_text *t)
{
    if (!array_reserve(&t->first, &t->first_cap, t->n + (size_t)2, sizeof *t->first))
        return false;
    t->first[0] = 0;
    t->first[++t->n] = t->lines.n;
    return true;
}

void conllu_text_empty(struct conllu_text *t)
{
    t->n = 0;
    texts_keep(&t->lines, 0);
}

void conllu_text_clear(struct conllu_text *t)
{
    free(t->first);
    texts_clear(&t->lines);
    *t = (struct conllu_text){0};
}

/* A line with an ID that is one number, of the sentence's words. */
static bool is_word(const char *line)
{
    size_t digits = strspn(line, "0123456789");

    return digits && line[digits] == '\t';
}

const char *conllu_text_form(const struct conllu_text *t, int i, size_t *at, size_t *length)
{
    while (t->first[i] + *at < t->first[i + 1]) {
        const char *line = texts_get(&t->lines, t->first[i] + (*at)++);

        if (is_word(line)) {
            line = strchr(line, '\t') + 1;
            *length = strcspn(line, "\t");
            return line;
        }
    }
    return NULL;
}

static void write_name(FILE *out, const struct vocab *names, int id)
{
    fputs(id < 0 ? "_" : vocab_word(names, id), out);
}

static void write_head(FILE *out, int head)
{
    if (head == CONLLU_NO_HEAD)
        putc('_', out);
    else
        fprintf(out, "%d", head + 1);
}

static void write_word(FILE *out, const char *line, int v, const struct conllu_columns *c)
{
    for (int column = 1;; column++) {
        size_t length = strcspn(line, "\t");

        if (column == 4 && c->upos)
            write_name(out, c->upos_names, c->upos[v]);
        else if (column == 7 && c->head)
            write_head(out, c->head[v]);
        else if (column == 8 && c->relation)
            write_name(out, c->relation_names, c->relation[v]);
        else
            fwrite(line, 1, length, out);
        line += length;
        if (!*line)
            return;
        putc(*line++, out);
    }
}

void conllu_write(FILE *out, const struct conllu_text *t, int i, const struct conllu_columns *c)
{
    int v = 0;

    for (size_t k = t->first[i]; k < t->first[i + 1]; k++) {
        const char *line = texts_get(&t->lines, k);

        if (is_word(line))
            write_word(out, line, v++, c);
        else
            fputs(line, out);
    }
}

void conllu_write_rest(FILE *out, const struct conllu_text *t)
{
    for (size_t k = t->n ? t->first[t->n] : 0; k < t->lines.n; k++)
        fputs(texts_get(&t->lines, k), out);
}
