/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sites.h - the places in the user's code where symbols are recorded.  They tell which runs of
 * symbols recur: blocks are made of these (tape_blocks.h).
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

#include <stddef.h>

#include "core/tape/signature.h"

enum { CAVS__NO_SITE = -1, CAVS__SAMPLE_ENDS = -2 };

struct cavs__site {
    /* The signature that the last symbol here had.  Operator, width, k, parameter and place are
     * what the site is; its number stands as that of a symbol. */
    struct cavs__glance last;
    /* How far behind this one, in bytes, the site lies that the short path may record next
     * (record_usual.c); 0: none.  Within a run that is the one that has always followed so far;
     * where runs end it is the last one that began a run behind this one, and the one before. */
    ptrdiff_t usual, other;
    int32_t after;  /* the site that followed first in the run; CAVS__NO_SITE: none yet */
    int32_t length; /* of the run up to here */
    bool branches;  /* something else has followed, too: runs end here */
    bool asked;     /* its row was asked for too late once: blocks keep it from then on */
    bool apart;     /* its operator is never part of a longer run */
    bool alone;     /* in no block: its gradient was asked for, or cavs__site_lists() */
    bool first;     /* runs begin here */
    bool cut_off;   /* because the run before was as long as runs may be */
    /* What the last symbol here was, and where, needs none of the special questions of the short
     * path: no run begins with it, it is no metric, and it has one operand or two. */
    bool plain;
    bool met;        /* false: a checkpoint described it, and it was not recorded since */
    int32_t block;   /* the block that began here last (block_forms.c); -1: none */
    int32_t known;   /* a known run that begins here (known_runs.h); -1: none */
    int32_t entries; /* the length that its list had first; 0: no list yet */
    uint64_t print;  /* a hash that tells it from other sites in any process */
};

struct cavs__sites {
    int n;
    size_t room;
    struct cavs__site *all;   /* [n] */
    struct cavs__table table; /* the sites where runs begin, by what they are */
    int nfirst;               /* how many these are */
    int unmet;                /* how many are only known from a checkpoint */
    int64_t changes;          /* counts what changes where runs begin and what becomes of them */
    /* What the last symbol at the usual site was like, as long as the run and the sample go on;
     * else cavs__unlikely. */
    const struct cavs_symbol *likely;
    /* the symbol that was recorded last: */
    int32_t last;  /* its site; CAVS__NO_SITE: the next symbol begins a run */
    int32_t start; /* the site where its run began */
    int sample;
    int32_t run; /* the first symbol of its run */
};

/* No sites yet, after so many changes. */
void cavs__sites_init(struct cavs__sites *s, int64_t changes);
void cavs__sites_free(struct cavs__sites *s);
/* Copies the sites of another recording, between two samples.  false: out of memory. */
bool cavs__sites_become(struct cavs__sites *s, const struct cavs__sites *as);
/* The next symbol begins a run.  cavs__sites_end(): since the sample ends here, which is noted as
 * something that follows the site; cavs__sites_leave(): for a reason that says nothing of the site,
 * such as a rewind. */
void cavs__sites_end(struct cavs__sites *s);
void cavs__sites_leave(struct cavs__sites *s);
/* For checkpoints: the site as it would be if the sample ended now. */
struct cavs__site cavs__site_ended(const struct cavs__sites *s, int32_t site);
/* Adds a site that a checkpoint describes and that is not met yet.  false: out of memory. */
bool cavs__site_expect(struct cavs__sites *s, const struct cavs__site *expected);
/* Notes that the operator at this site took a list of so many entries.  It is left out of blocks if
 * the lengths vary, since each length would need a block of its own, or if the list is long, since
 * it gains nothing then. */
void cavs__site_lists(struct cavs__sites *s, int32_t site, int entries);

/* The next symbol does not take the short path. */
static inline void cavs__sites_visit_next(struct cavs__sites *s)
{
    s->likely = cavs__unlikely;
}

/* Something of a site has changed that the short path does not look at: it is not taken until each
 * site has been visited again. */
void cavs__sites_visit_all(struct cavs__sites *s);

/* Goes on to the site of x, a symbol of this sample; s->run is then the first symbol of its run.
 * The site; CAVS__NO_SITE: out of memory. */
int32_t cavs__site_visit(struct cavs__sites *s, const struct cavs_symbol *x, int sample);

/* What else the next symbol may well be; NULL: nothing. */
static inline const struct cavs_symbol *cavs__other_likely(const struct cavs__sites *s)
{
    const struct cavs__site *last = s->likely == cavs__unlikely ? NULL : &s->all[s->last];

    return last && last->other
               ? (const struct cavs_symbol *)((const char *)&last->last.like + last->other)
               : NULL;
}

/* The site of s->likely. */
static inline const struct cavs__site *cavs__likely_site(const struct cavs__sites *s)
{
    return (const struct cavs__site *)((const char *)s->likely -
                                       offsetof(struct cavs__site, last.like));
}

/* The same where the site is known already. */
static inline void cavs__site_follow(struct cavs__sites *s, const struct cavs__site *site)
{
    const char *like = (const char *)&site->last.like;

    s->last = site->last.like.number;
    s->likely = site->usual ? (const struct cavs_symbol *)(like + site->usual) : cavs__unlikely;
}

#endif
