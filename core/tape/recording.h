/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - the symbols of a tape's present recording and how they are written down.  Nothing
 * here knows sessions or StarPU.
 *
 * There are two sets of nodes, and recordings use them in turn.  Each set has a cavs_function of
 * its own, to which the symbols in it belong, so a symbol that is left over from the recording
 * before is recognised by its function and refused.
 */
#ifndef CAVS_CORE_TAPE_RECORDING_H
#define CAVS_CORE_TAPE_RECORDING_H

#include "codelets/part.h"
#include "core/tape/signature.h"
#include "core/tape/sites.h"
#include "memory/arena.h"

enum { CAVS__NODES_A_CHUNK = 1024, CAVS__NOT_COMPUTED = -1, CAVS__NO_ROW = -1 };
enum { CAVS__MOST_READS = INT32_MAX / 2 /* of a recording: entries number them by 32 bits */ };

/* An operand: the columns of a symbol from one on, or an id.  The reads of a block have, behind its
 * operands, one for each symbol that is a result of the block. */
struct cavs__read {
    int32_t of;
    int32_t from : 31;   /* first column; CAVS__NO_ROW: an id, or what the signature holds */
    uint32_t in_run : 1; /* of a symbol: it belongs to the same run as the symbol that reads it */
};

/* All that recording a reader needs to know of an operand.  It is worked out once, when the operand
 * is recorded, and lies together, because symbols are read more often than they are recorded. */
struct cavs__to_readers {
    uint64_t key[2]; /* cavs__set_key() */
    struct cavs__read read;
    int32_t sample, run; /* of a row: those of its entry; else -1 */
    int32_t row;         /* a mask: all bits if it is a row, else 0 */
};

/* A recorded symbol. */
struct cavs__node {
    struct cavs_symbol x; /* its number counts all symbols of the recording */
    struct cavs_symbol *in[2];
    const float *row; /* of a row that the user gave: its x.width numbers */
    int32_t place;    /* its number within its sample, by which dropout draws */
    struct cavs__to_readers to_readers;
};

/* What the search for vertices reads of a symbol.  It lies apart from the nodes, so that the search
 * does not pull these through the caches. */
struct cavs__entry {
    int32_t sample;
    int32_t run;    /* the first symbol of its run (sites.h) */
    int32_t site;   /* where it was recorded (sites.h); CAVS__NO_SITE: it belongs to no run */
    int32_t nreads; /* number of its operands; where it reads a list, the signature has fewer */
    int32_t reads;  /* index of its first operand in the recording's reads */
    int32_t member; /* while its run is cut: its number in it (run_parts.h); else 0 */
};

/* What is computed at one go: a single symbol, or a block of them (tape_blocks.h).  The vertices of
 * an increment lie one after the other, because every later phase goes over them, several times;
 * they are far fewer than the symbols. */
struct cavs__vertex {
    int32_t symbol; /* its first result */
    int32_t sample;
    int32_t as;       /* the number of its signature */
    int32_t operands; /* index of its first read; behind its operands come its results */
    int32_t nreads;   /* where it reads a list: the number of its operands */
    int32_t number;   /* while its shard is scheduled: its number there (tape_graph.c) */
    int32_t line;     /* where its row begins among the rows of the session */
    int32_t readers;  /* how many pieces the gradient of its row is summed from (reached.c) */
    bool waited_for;  /* the symbol has the mark CAVS__WAITED_FOR */
    bool reached;     /* its gradient has been computed (reached.c) */
    bool shared;      /* others were equal to it and used its row; they may have been taken back */
};

/* Where the row of a symbol with the mark CAVS__ORDERED is. */
struct cavs__row_place {
    int32_t vertex; /* the one that computes it or an equal symbol */
    int32_t column; /* of the vertex's row, where the symbol begins */
};

/* What evaluation notes of a symbol.  The marks of a symbol are one byte in an array of their own,
 * because they are looked up each time that any other symbol reads it. */
enum cavs__mark {
    CAVS__ORDERED = 1,      /* it has a row, or will have one */
    CAVS__READ_OUTSIDE = 2, /* it is read outside of its vertex, or asked for by the user */
    CAVS__WAITED_FOR = 4,   /* something other than a loss or metric needs it (needed.c) */
    CAVS__IN_BLOCK = 8,     /* a block has computed it, even if it was computed alone since */
    CAVS__SUMMED_UP = 16,   /* it is a loss or another metric */
    CAVS__SOURCE = 32       /* it is computed and reads no other symbol */
};

/* From a turn on, symbols belong to its sample, unless their operands belong to another. */
struct cavs__turn {
    int32_t sample;
    int32_t nsamples;                /* how many have begun, this one included */
    int32_t from;                    /* its first symbol */
    int32_t ahead;                   /* what a symbol's number exceeds its place in the chunks by */
    const struct cavs__nodes *nodes; /* the chunks that hold its symbols */
};

/* Two groups of samples that have become one, because a symbol reads both. */
struct cavs__union {
    int32_t from; /* that symbol */
    int32_t a, b; /* a sample of each */
};

/* Where a run begins.  It repeats what the entry of the run's first symbol says: needed.c goes from
 * run to run, and known runs become vertices, without touching the entries, which are many and have
 * just been written by other cores. */
struct cavs__run_begin {
    int32_t first, site, reads, sample; /* its first symbol, and of that one the others */
};

struct cavs__nodes {
    int nchunks;
    struct cavs__node **chunks;
    struct cavs__arena arena; /* operands beyond two, and rows */
};

struct cavs__recording {
    struct cavs__recorder recorder;
    struct cavs__signatures signatures;
    enum cavs_tape_run run;
    int64_t most;               /* symbols */
    struct cavs_symbol nowhere; /* where the next symbol is written if there is no memory for it */
    bool open;                  /* a recording has begun */
    unsigned generation;
    struct cavs_function of[2]; /* what symbols of this recording and of the one before belong to */
    struct cavs__nodes nodes[2];
    int32_t ahead; /* that of the next symbol: struct cavs__turn */
    size_t entry_room, mark_room, signature_room, read_room, place_room, vertex_room;
    int64_t nreads;
    int64_t block_reads;            /* so many reads stay when the recording is rewound: those up to
                                    the last block's */
    struct cavs__entry *entries;    /* by symbol */
    struct cavs__row_place *places; /* by symbol */
    int nvertices;
    struct cavs__vertex *vertices; /* [nvertices] */
    uint8_t *marks;                /* by symbol: enum cavs__mark */
    /* By symbol; CAVS__NOT_COMPUTED: it has no row of its own (an id, a slice, a constant). */
    int32_t *signature;
    struct cavs__read *reads; /* [nreads] */
    int nsamples;
    int nturns; /* what is recorded next belongs to the sample of the last turn */
    size_t turn_room, count_room, group_room, union_room, run_room, sink_room;
    struct cavs__turn *turns; /* [nturns] */
    int ngiven;
    size_t given_room;
    int64_t *given_marks; /* [ngiven] ascending: those given that are still valid */
    int32_t *count;       /* [nsamples] symbols of each */
    /* [nsamples] Samples that read one another are a group: an earlier one of it, or the sample
     * itself. */
    int32_t *group;
    int nunions;
    struct cavs__union *unions;
    int nruns;
    struct cavs__run_begin *runs; /* [nruns] in the order in which they were recorded */
    int nsinks;
    int32_t *sinks; /* [nsinks] the symbols that are metrics and losses, ascending */
    struct cavs__sites sites;
    struct cavs__uses uses[2];   /* of each set of nodes, the symbols of parameters: owned */
    struct cavs__glance sourced; /* the signature that the last symbol without a site had */
    size_t sort_room, code_room, applied_room;
    struct cavs__operand_sort *sorts; /* [sort_room] scratch */
    int32_t *codes;                   /* [code_room] scratch of declared.c */
    struct cavs_symbol **applied; /* [applied_room] scratch of declared.c: what each symbol of the
                                         applied function is here */
};

int cavs__recording_init(struct cavs__recording *r, struct cavs_model *m, int stage, int64_t most);
/* For a worker that records samples for another tape, whose signatures it borrows; their functions
 * are in that stage. */
void cavs__recording_init_aside(struct cavs__recording *r, struct cavs_stage *stage);
void cavs__recording_free(struct cavs__recording *r);
void cavs__recording_begin(struct cavs__recording *r, enum cavs_tape_run run);
/* What follows belongs to this sample, of nsamples that have begun.  The function that the symbols
 * of the present recording belong to; NULL: reported. */
struct cavs_function *cavs__take_turn(struct cavs__recording *r, int sample, int nsamples);
/* Room for so many samples.  false: reported. */
bool cavs__reserve_turns(struct cavs__recording *r, int nsamples);
/* Begins a sample, or goes on with one.  The function that the symbols of the present recording
 * belong to; NULL: reported under the name of the public call. */
struct cavs_function *cavs__next_sample(struct cavs__recording *r);
struct cavs_function *cavs__resume_sample(struct cavs__recording *r, int sample);
struct cavs_symbol *cavs__record_row(struct cavs__recording *r, int width, const float *row,
                                     struct cavs_place at);
struct cavs_symbol *cavs__record_id(struct cavs__recording *r, int id, struct cavs_place at);
/* list.c: a list of symbols.  f need not be of a tape: a declared function that is applied unfolds
 * through the same calls. */
struct cavs_symbol *cavs__record_list(struct cavs_function *f, int n, struct cavs_symbol *const *xs,
                                      struct cavs_place at);
/* Does an operator like this one read lists, so that it has to be recorded entry by entry?  And
 * recording it so. */
bool cavs__reads_lists(const struct cavs_symbol *like, int n, struct cavs_symbol *const *inputs);
struct cavs_symbol *cavs__record_on_lists(struct cavs_function *f, const struct cavs_symbol *like,
                                          int n, struct cavs_symbol *const *inputs);
/* Are the list's entries rows that are read alike, so that one operator can take them all? */
bool cavs__are_rows(const struct cavs_symbol *list);
int64_t cavs__recording_mark(struct cavs__recording *r);
int cavs__recording_rewind(struct cavs__recording *r, int64_t mark);
/* The first sample of the group that this one belongs to: those are computed together. */
int cavs__group_of(struct cavs__recording *r, int sample);
/* What this recording failed by first: 0, or its code with its message reported. */
int cavs__recording_error(const struct cavs__recording *r);
/* It cannot be used any more, for a reason that is no symbol's, and says so when it is asked for
 * more. */
void cavs__recording_spoil(struct cavs__recording *r, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The sample that the next symbol belongs to, unless its operands belong to another.  One must have
 * begun. */
static inline int cavs__present_sample(const struct cavs__recording *r)
{
    return r->turns[r->nturns - 1].sample;
}

static inline int cavs__symbols_of(const struct cavs__recording *r)
{
    return r->recorder.present->nsymbols;
}

static inline const struct cavs__nodes *cavs__own_nodes(const struct cavs__recording *r)
{
    return &r->nodes[r->generation & 1];
}

static inline struct cavs__node *cavs__node_in(const struct cavs__nodes *nodes, int place)
{
    return &nodes->chunks[(unsigned)place / CAVS__NODES_A_CHUNK]
                         [(unsigned)place % CAVS__NODES_A_CHUNK];
}

/* recording.c: the same, where some samples were recorded by workers and lie in their nodes. */
struct cavs__node *cavs__node_of_turn(const struct cavs__recording *r, int number);

static inline struct cavs__node *cavs__node_at(const struct cavs__recording *r, int number)
{
    return r->ahead == 0 ? cavs__node_in(cavs__own_nodes(r), number)
                         : cavs__node_of_turn(r, number);
}

/* Does it have a row of its own that is computed? */
static inline bool cavs__is_computed(const struct cavs__recording *r, const struct cavs__node *node)
{
    return node->x.op != CAVS__OP_USE && r->signature[node->x.number] != CAVS__NOT_COMPUTED;
}

static inline bool cavs__is_marked(const struct cavs__recording *r, int symbol,
                                   enum cavs__mark mark)
{
    return r->marks[symbol] & mark;
}

/* The vertex that computes the symbol, which must have a row. */
static inline struct cavs__vertex *cavs__vertex_of(const struct cavs__recording *r, int symbol)
{
    return &r->vertices[r->places[symbol].vertex];
}

/* The line where the row of an evaluated symbol begins. */
static inline int32_t cavs__line_of(const struct cavs__recording *r, int symbol)
{
    const struct cavs__row_place *place = &r->places[symbol];

    return r->vertices[place->vertex].line + place->column / CAVS__LINE;
}

static inline struct cavs__entry *cavs__entry_of(const struct cavs__recording *r,
                                                 const struct cavs_symbol *x)
{
    return &r->entries[x->number];
}

/* The number of operands of a vertex or symbol with this signature; nreads: what it has noted
 * itself, which counts where it reads a list. */
static inline int32_t cavs__reads_of(const struct cavs__signature *s, int32_t nreads)
{
    return s->nlisted > 0 ? nreads : s->n;
}

/* The number of entries of the vertex's list; 0: it reads none. */
static inline int32_t cavs__entries_of(const struct cavs__signature *s,
                                       const struct cavs__vertex *v)
{
    return s->nlisted > 0 ? (v->nreads - (s->n - s->nlisted)) / s->nlisted : 0;
}

/* Operand k of a signature is one read of the vertex, or of a list one for each of its entries: the
 * first of them, counted from the vertex's first read. */
static inline int32_t cavs__first_read(const struct cavs__signature *s, int k, int32_t entries)
{
    int listed = k - (s->n - s->nlisted);

    return listed < 0 ? k : k - listed + listed * entries;
}

/* The node whose columns an operand is, from column *from on: slices are followed to what they are
 * slices of. */
static inline struct cavs__node *cavs__node_of(struct cavs_symbol *x, int *from)
{
    *from = 0;
    for (; x->op == CAVS__OP_SLICE; x = x->inputs[0])
        *from += x->k;
    return (struct cavs__node *)x;
}

#endif
