/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_blocks.h - runs of symbols that recur become one vertex each: a block, whose function is
 * compiled as a declared one is.
 *
 * A run (sites.h) has up to three parts (run_parts.h); each is a vertex.  It is told from others by
 * its form: signatures, and which symbol reads which.  When a form has been seen often enough it
 * gets a signature of its own, with the members as results that any such run has been read at from
 * outside so far; its groups of element-wise operators are compiled by a thread, for devices,
 * too, while recordings go on operator by operator.  It is used from a later recording on, whose
 * number does not depend on how long that takes.  A run that is read at a member that is no
 * result is computed operator by operator, and the block made anew with that one.
 */
#ifndef CAVS_CORE_TAPE_TAPE_BLOCKS_H
#define CAVS_CORE_TAPE_TAPE_BLOCKS_H

#include <pthread.h>

#include "codelets/groups/elementwise.h"
#include "core/tape/recording.h"

enum {
    CAVS__NO_BLOCK = -1,   /* signature: there is none */
    CAVS__BLOCK_LATER = -2 /* it is made when a run of the form is met, in this process */
};

enum {
    CAVS__MOST_BLOCKS = 256, /* signatures of a tape */
    CAVS__WORTH_A_BLOCK = 32 /* times that a form has to be seen */
};

struct cavs__tape_block {
    struct cavs__block_form form; /* owned; without codes: known from a checkpoint, not met yet */
    uint64_t print;               /* what tells the form from others, in any process */
    int64_t seen;
    uint64_t wanted;           /* members that were read outside of the block */
    int32_t signature, coming; /* that is in use, and that will be */
    uint64_t results, coming_results;
    bool refused; /* it cannot be a block */
};

/* Why symbols are vertices by themselves. */
enum cavs__alone {
    CAVS__ALONE_RUN,    /* what comes before and after them is not always the same */
    CAVS__ALONE_NEW,    /* their run has not been seen often enough */
    CAVS__ALONE_COMING, /* its block is being compiled */
    CAVS__ALONE_READ,   /* their run is read where none was before */
    CAVS__ALONE_LARGE,  /* it has too many operands, or there are too many blocks */
    CAVS__ALONE_REASONS
};

struct cavs__blocks {
    int after;     /* recordings from when a block is found until it is used; 0: there are none */
    int64_t worth; /* times that a form has to be seen */
    bool used;     /* some are in use */
    bool apart;    /* gradients of symbols were asked for: equal ones are computed one by one */
    int n, unmet;
    int made; /* signatures */
    /* Signatures that the process which wrote the checkpoint had made, and that are not here yet;
     * less those that were made here before the session was resumed. */
    int made_before;
    struct cavs__tape_block **all; /* [n] */
    struct cavs__table table;      /* of them, by form */
    int nknown;
    struct cavs__known_run **known; /* [nknown] known_runs.h */
    size_t before_room, taken_room;
    uint8_t *before; /* by symbol: marks when the last of its run was found to be needed */
    int ntaken;
    struct cavs__taken_run *taken;      /* [ntaken] runs as known ones, from the last one back */
    int64_t alone[CAVS__ALONE_REASONS]; /* symbols so far */
    /* those that are coming: background.c */
    bool coming;
    int64_t due; /* the recording from which on they are used */
    bool threaded;
    pthread_t thread;
    struct cavs__ew_program *programs;
    char *text; /* of their groups, for devices; owned */
};

/* Symbols that are to be one vertex. */
struct cavs__together {
    int32_t head, sample, signature;
    int noperands;
    const int32_t *operands; /* of each operand the number of a read, counted from `from` */
    int32_t from;
    int32_t results[CAVS__MOST_MEMBERS]; /* symbols: as many as the signature has */
};
/* Makes them one vertex, whose results are there, but for their marks.  false: out of memory. */
bool cavs__put_together(struct cavs__recording *r, const struct cavs__together *v);

void cavs__blocks_free(struct cavs__blocks *b);
/* Adds a form that was not met yet.  false: out of memory. */
bool cavs__block_expect(struct cavs__blocks *b, const struct cavs__tape_block *expected);
/* background.c: makes the signatures of a form that a checkpoint told of, and that is met now. */
void cavs__make_later(struct cavs__blocks *all, struct cavs__tape_block *b);
/* The n wanted symbols of the list, ascending, and known runs among them, become vertices.  false:
 * out of memory. */
bool cavs__find_vertices(struct cavs__blocks *b, struct cavs__recording *r, int n,
                         const int32_t *list);

#endif
