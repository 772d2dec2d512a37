/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/entities.h"

#include <stdbool.h>
#include <string.h>

/* What a tag says: 'O', or B, I, E or S and the type. */
struct mark {
    char place;
    const char *type;
};

static struct mark mark_of(const struct vocab *tags, int tag)
{
    const char *name = vocab_word(tags, tag);

    if (strcmp(name, "O") == 0)
        return (struct mark){'O', ""};
    if (tag == VOCAB_UNKNOWN)
        return (struct mark){'I', name};
    if (name[0] && strchr("BIES", name[0]) && name[1] == '-')
        return (struct mark){name[0], name + 2};
    return (struct mark){'S', name};
}

/* Whether the second of two neighbours goes on with the entity of the first. */
static bool goes_on(const struct mark *first, const struct mark *second)
{
    return (first->place == 'B' || first->place == 'I') &&
           (second->place == 'I' || second->place == 'E') && strcmp(first->type, second->type) == 0;
}

struct span {
    int begin, end; /* the words from begin to end - 1 */
    const char *type;
};

/* The first entity that begins at `from` or behind; it is {n, n} if there is none. */
static struct span find_span(const struct vocab *tags, int n, const int *tag, int from)
{
    struct mark last, next;
    struct span s = {n, n, ""};

    while (from < n && mark_of(tags, tag[from]).place == 'O')
        from++;
    if (from == n)
        return s;
    last = mark_of(tags, tag[from]);
    s = (struct span){from, from + 1, last.type};
    while (s.end < n && (next = mark_of(tags, tag[s.end]), goes_on(&last, &next))) {
        last = next;
        s.end++;
    }
    return s;
}

static bool is_same(const struct span *a, const struct span *b)
{
    return a->begin == b->begin && a->end == b->end && strcmp(a->type, b->type) == 0;
}

/* Entities of both in the order in which they begin. */
void entities_count(struct entity_counts *c, const struct vocab *tags, int n, const int *gold,
                    const int *predicted)
{
    struct span g = find_span(tags, n, gold, 0), p = find_span(tags, n, predicted, 0);

    while (g.begin < n || p.begin < n) {
        int at = g.begin < p.begin ? g.begin : p.begin;
        bool of_gold = g.begin == at, of_predicted = p.begin == at;

        c->gold += of_gold;
        c->predicted += of_predicted;
        c->correct += is_same(&g, &p);
        if (of_gold)
            g = find_span(tags, n, gold, g.end);
        if (of_predicted)
            p = find_span(tags, n, predicted, p.end);
    }
}

static double share(double part, double all)
{
    return all > 0 ? part / all : 0;
}

double entities_precision(const struct entity_counts *c)
{
    return share((double)c->correct, (double)c->predicted);
}

double entities_recall(const struct entity_counts *c)
{
    return share((double)c->correct, (double)c->gold);
}

/* 2 p r / (p + r), where p = correct / predicted and r = correct / gold */
double entities_f1(const struct entity_counts *c)
{
    return share(2 * (double)c->correct, (double)(c->gold + c->predicted));
}
