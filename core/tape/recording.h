/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - what a tape records, and how: knows neither sessions nor StarPU.
 *
 * Recordings take turns in two sets of chunks, each with a function that stands for its symbols:
 * what the recording before made is told by that function, and refused.
 */
#ifndef CAVS_CORE_TAPE_RECORDING_H
#define CAVS_CORE_TAPE_RECORDING_H

#include "codelets/part.h"
#include "core/tape/signature.h"
#include "core/tape/sites.h"
#include "memory/arena.h"

enum { CAVS__NODES_A_CHUNK = 1024, CAVS__NOT_COMPUTED = -1, CAVS__NO_ROW = -1 };

/* An operand: columns of a symbol from there on, or an id.  Of a block, behind its operands: the
 * symbols that are its results. */
struct cavs__read {
    int32_t of;
    int32_t from : 31;   /* CAVS__NO_ROW: ids, and what the signature has */
    uint32_t in_run : 1; /* of a symbol: it is of the run of the one that reads it */
};

/* What a symbol is to all that read it, found once: they look at nothing else of it. */
struct cavs__to_readers {
    uint64_t key[2]; /* cavs__set_key() */
    struct cavs__read read;
    int32_t sample, run; /* of a row: the entry's; else -1 */
    int32_t row;         /* all bits if it is one, else none */
};

/* A recorded symbol. */
struct cavs__node {
    struct cavs_symbol x; /* its number counts all symbols of the recording */
    struct cavs_symbol *in[2];
    const float *row; /* of one that the user gave: x.width numbers */
    int32_t place;    /* in its sample: dropout's */
    struct cavs__to_readers to_readers;
};

/* What finding vertices goes by, apart from the symbols. */
struct cavs__entry {
    int32_t sample;
    int32_t reads;  /* the first of its operands, as many as the signature has */
    int32_t nreads; /* as many; of one that reads a list, the signature has another number */
    int32_t site;   /* where it was recorded: sites.h; CAVS__NO_SITE: nowhere that matters */
    int32_t run;    /* the first symbol of its run: sites.h */
    int32_t member; /* while its run is cut: which one it is (run_parts.h); else 0 */
};

/* What is computed by itself: a symbol, or a block of them (tape_blocks.h).  All of an increment
 * lie one after the other, since everything from there on goes over them several times: there is
 * one for many symbols. */
struct cavs__vertex {
    int32_t symbol; /* its first result */
    int32_t sample;
    int32_t as;       /* signature */
    int32_t operands; /* the first of its reads; behind them the symbols that are results */
    int32_t nreads;   /* of one that reads a list: how many operands there are */
    int32_t number;   /* while it is put in order, among those of its shard: tape_graph.c */
    int32_t line;     /* where the session has its row */
    int32_t readers;  /* pieces of the gradient of its row: reached.c */
    bool waited_for;  /* as the symbol is marked */
    bool reached;     /* its gradient has been computed: reached.c */
    bool shared;      /* equal vertices are computed with it */
};

/* Where the row of a symbol is that is CAVS__ORDERED. */
struct cavs__row_place {
    int32_t vertex; /* that computes it, or an equal one */
    int32_t column; /* where the symbol begins in the vertex's row */
};

/* What else evaluating knows of a symbol: a byte each, beside the entries, because it is looked at
 * for each time that a symbol is read, wherever that is. */
enum cavs__mark {
    CAVS__ORDERED = 1,      /* there is a row for it, or there will be */
    CAVS__READ_OUTSIDE = 2, /* of its vertex, or asked for by the user */
    CAVS__WAITED_FOR = 4,   /* by more than what is summed up in the end: needed.c */
    CAVS__IN_BLOCK = 8,     /* also of what was computed once more, by itself, after its block */
    CAVS__SUMMED_UP = 16,   /* in the end: it is a loss or another metric */
    CAVS__SOURCE = 32       /* it is computed, and reads no other symbol */
};

/* What is recorded from there on is of that sample, unless operands say otherwise. */
struct cavs__turn {
    int32_t sample;
    int32_t nsamples;                /* that have begun, with this one */
    int32_t from;                    /* symbol */
    int32_t ahead;                   /* its symbols' numbers are of their places in their chunks */
    const struct cavs__nodes *nodes; /* which those are */
};

/* Two groups of samples that have become one. */
struct cavs__union {
    int32_t from; /* the symbol that reads both */
    int32_t a, b; /* samples of them */
};

/* Where a run begins, apart from its entry: needed.c goes from one to the one before, and what is
 * known becomes vertices without a look at entries, which workers have just written. */
struct cavs__run_begin {
    int32_t first, site, reads, sample; /* those of its first symbol */
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
    struct cavs_symbol nowhere; /* the next one's place where there is no memory */
    bool open;                  /* begun */
    unsigned generation;
    struct cavs_function of[2]; /* symbols of this recording and of the one before */
    struct cavs__nodes nodes[2];
    int32_t ahead; /* of the next symbol: struct cavs__turn */
    size_t entry_room, mark_room, signature_room, read_room, place_room, vertex_room;
    int64_t nreads;
    int64_t block_reads;         /* so many there were behind those of the last block: they stay */
    struct cavs__entry *entries; /* by symbol */
    struct cavs__row_place *places; /* by symbol */
    int nvertices;
    struct cavs__vertex *vertices; /* [nvertices] */
    uint8_t *marks;                /* by symbol: enum cavs__mark */
    /* By symbol; CAVS__NOT_COMPUTED: others read it as it is, or columns of it. */
    int32_t *signature;
    struct cavs__read *reads; /* [nreads] */
    int nsamples;
    int nturns; /* the last one's sample is the present one */
    size_t turn_room, count_room, group_room, union_room, run_room, sink_room;
    struct cavs__turn *turns; /* [nturns] */
    int32_t *count;           /* [nsamples] symbols of each */
    int32_t *group; /* [nsamples] those that read one another: an earlier sample, or itself */
    int nunions;
    struct cavs__union *unions;
    int nruns;
    struct cavs__run_begin *runs; /* [nruns] ascending */
    int nsinks;
    int32_t *sinks; /* [nsinks] metrics and losses, ascending */
    struct cavs__sites sites;
    struct cavs__uses uses[2];   /* in all recordings of a turn: owned, and of no number */
    struct cavs__glance sourced; /* signature of the last symbol of no site */
    size_t sort_room, code_room, applied_room;
    struct cavs__operand_sort *sorts; /* [sort_room] scratch */
    int32_t *codes;                   /* [code_room] scratch: declared.c */
    struct cavs_symbol **applied;     /* [applied_room] likewise: what its symbols are here */
};

int cavs__recording_init(struct cavs__recording *r, struct cavs_model *m, int stage, int64_t most);
/* Of a worker: signatures are another one's, whose functions are in that stage. */
void cavs__recording_init_aside(struct cavs__recording *r, struct cavs_stage *stage);
void cavs__recording_free(struct cavs__recording *r);
void cavs__recording_begin(struct cavs__recording *r, enum cavs_tape_run run);
/* Of the samples that there are then, one is gone on with.  The function that stands for the
 * present recording; NULL: reported. */
struct cavs_function *cavs__take_turn(struct cavs__recording *r, int sample, int nsamples);
/* Room for so many samples.  false: reported. */
bool cavs__reserve_turns(struct cavs__recording *r, int nsamples);
/* The function that stands for the present recording, of which a sample has begun; NULL: reported
 * under the name of the call. */
struct cavs_function *cavs__next_sample(struct cavs__recording *r);
struct cavs_function *cavs__resume_sample(struct cavs__recording *r, int sample);
struct cavs_symbol *cavs__record_row(struct cavs__recording *r, int width, const float *row,
                                     struct cavs_place at);
struct cavs_symbol *cavs__record_id(struct cavs__recording *r, int id, struct cavs_place at);
/* list.c: of a recording, or of whatever else records. */
struct cavs_symbol *cavs__record_list(struct cavs_function *f, int n, struct cavs_symbol *const *xs,
                                      struct cavs_place at);
/* Is it to be recorded entry by entry?  Then that is done. */
bool cavs__reads_lists(const struct cavs_symbol *like, int n, struct cavs_symbol *const *inputs);
struct cavs_symbol *cavs__record_on_lists(struct cavs_function *f, const struct cavs_symbol *like,
                                          int n, struct cavs_symbol *const *inputs);
/* Is it of rows that are read alike, so that one operator can take them all? */
bool cavs__are_rows(const struct cavs_symbol *list);
int64_t cavs__recording_mark(const struct cavs__recording *r);
int cavs__recording_rewind(struct cavs__recording *r, int64_t mark);
/* The first of the samples that are computed together with this one. */
int cavs__group_of(struct cavs__recording *r, int sample);
/* The first mistake of this recording: 0 or a code, with its message. */
int cavs__recording_error(const struct cavs__recording *r);

/* The sample that symbols are of, unless their operands are of another; one has begun. */
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

/* recording.c: where samples that others have recorded are among them. */
struct cavs__node *cavs__node_of_turn(const struct cavs__recording *r, int number);

static inline struct cavs__node *cavs__node_at(const struct cavs__recording *r, int number)
{
    return r->ahead == 0 ? cavs__node_in(cavs__own_nodes(r), number)
                         : cavs__node_of_turn(r, number);
}

/* Is it computed, and not read as it is? */
static inline bool cavs__is_computed(const struct cavs__recording *r, const struct cavs__node *node)
{
    return node->x.op != CAVS__OP_USE && r->signature[node->x.number] != CAVS__NOT_COMPUTED;
}

static inline bool cavs__is_marked(const struct cavs__recording *r, int symbol,
                                   enum cavs__mark mark)
{
    return r->marks[symbol] & mark;
}

/* The vertex that computes the symbol, of which there is a row. */
static inline struct cavs__vertex *cavs__vertex_of(const struct cavs__recording *r, int symbol)
{
    return &r->vertices[r->places[symbol].vertex];
}

/* Where the row of an evaluated symbol begins. */
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

/* Rows and the like that something of that signature reads, which has so many if it reads a list.
 */
static inline int32_t cavs__reads_of(const struct cavs__signature *s, int32_t nreads)
{
    return s->nlisted > 0 ? nreads : s->n;
}

/* Entries of its list; 0: it has none. */
static inline int32_t cavs__entries_of(const struct cavs__signature *s,
                                       const struct cavs__vertex *v)
{
    return s->nlisted > 0 ? (v->nreads - (s->n - s->nlisted)) / s->nlisted : 0;
}

/* Those that operand k is, one after the other: *n of them, from that one of the vertex on. */
static inline int32_t cavs__reads_of_operand(const struct cavs__signature *s,
                                             const struct cavs__vertex *v, int k, int32_t *n)
{
    int listed = k - (s->n - s->nlisted);

    *n = listed < 0 ? 1 : cavs__entries_of(s, v);
    return listed < 0 ? k : k - listed + listed * *n;
}

/* What an operand is columns of, from column *from on. */
static inline struct cavs__node *cavs__node_of(struct cavs_symbol *x, int *from)
{
    *from = 0;
    for (; x->op == CAVS__OP_SLICE; x = x->inputs[0])
        *from += x->k;
    return (struct cavs__node *)x;
}

#endif
