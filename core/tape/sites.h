/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sites.h - where in the user's code symbols are recorded, and so which runs of them recur: what
 * blocks are made of (tape_blocks.h).
 *
 * A site is an operator at a line of a file, on the way from the beginning of its run: the same
 * line of a function that is called from two places is two sites.  A run ends where a site has been
 * followed by more than one thing, the end of the sample included; where it ended, the next one
 * begins.  So runs come to be what is between two branches of the user's program, the body of a
 * loop, say, whatever functions it calls.  Where a run is as long as runs may be, the next one
 * begins at a site of its own, since nothing in the code is the reason: else what came after it
 * would end runs that begin there for a reason, and blocks would depend on what was recorded first.
 * A run is of one sample; nothing is left out of it but symbols that read no others, so it may be
 * one vertex of a graph.
 */
#ifndef CAVS_CORE_TAPE_SITES_H
#define CAVS_CORE_TAPE_SITES_H

#include "core/tape/signature.h"

enum { CAVS__NO_SITE = -1, CAVS__SAMPLE_ENDS = -2 };

struct cavs__site {
    struct cavs_place at;
    enum cavs__op op;
    int k, width;
    const struct cavs_param *param;
    int32_t usual;            /* 1 + the site of what nearly always comes after it in its run, if
                                 record_usual.c may record that; 0: it has to be looked at */
    int32_t after;            /* what came after it in its run first; CAVS__NO_SITE: nothing yet */
    bool branches;            /* others came after it, too: its run ends here */
    bool asked;               /* for its row, when that was late: it is a result of its block */
    bool apart;               /* it is a run by itself: what it is is no part of any */
    bool alone;               /* in no block: its gradient was asked for, or cavs__site_lists() */
    bool first;               /* a run began here */
    bool cut_off;             /* likewise, since the one before was as long as runs may be */
    bool met;                 /* false: known by its print alone, from a checkpoint */
    struct cavs__glance last; /* signature of the last symbol */
    int32_t block;            /* that began here last: block_forms.c; -1: none */
    int32_t known;            /* run that began here: known_runs.h; -1: none */
    int32_t entries;          /* of its list: that it had first; 0: none yet */
    uint64_t print;           /* what tells it from others, in any process */
};

struct cavs__sites {
    int n;
    size_t room;
    struct cavs__site *all;   /* [n] */
    struct cavs__table table; /* of those that begin runs */
    int nfirst;               /* so many */
    int unmet;
    int64_t changes; /* so far, of what decides where runs begin and what becomes of them */
    /* the symbol before */
    int32_t last;  /* its site; CAVS__NO_SITE: a run begins */
    int32_t usual; /* of that site, if the run may go on, and the present sample */
    int32_t start; /* the site where a run began last */
    int sample;
    int32_t run; /* the first symbol of its run */
    int length;  /* of the run */
};

void cavs__sites_free(struct cavs__sites *s);
/* Makes them as those of another recording are, between two samples.  false: out of memory. */
bool cavs__sites_become(struct cavs__sites *s, const struct cavs__sites *as);
/* The next symbol begins a run: because no sample goes on here, or for no reason that a site tells,
 * such as a mark. */
void cavs__sites_end(struct cavs__sites *s);
void cavs__sites_leave(struct cavs__sites *s);
/* For checkpoints.  The site as it would be if a run ended now, and what tells it from others. */
struct cavs__site cavs__site_ended(const struct cavs__sites *s, int32_t site);
/* One more, not met yet.  false: out of memory. */
bool cavs__site_expect(struct cavs__sites *s, const struct cavs__site *expected);
/* Notes that a list of so many entries was there.  Where they differ in number, each block would be
 * for one of them, and long ones gain nothing in a block: what takes these is a symbol of its own.
 */
void cavs__site_lists(struct cavs__sites *s, int32_t site, int entries);

/* Something has become of a site that is looked at where sites are visited alone. */
void cavs__sites_visit_all(struct cavs__sites *s);

/* Where x, which is of this sample, is recorded; s->run: the first symbol of its run.
 * CAVS__NO_SITE: out of memory. */
int32_t cavs__site_visit(struct cavs__sites *s, const struct cavs_symbol *x, int sample);

/* The same, where it is known to be the usual one. */
static inline void cavs__site_follow(struct cavs__sites *s, int32_t site)
{
    s->last = site;
    s->usual = ++s->length < CAVS__MOST_MEMBERS ? s->all[site].usual : 0;
}

#endif
