/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_internal.h - what the files behind elementwise.h share.
 *
 *     elementwise.c   the table of operators
 *     ew_program.c    a group's life, batches of groups      ew_spec.c    its description
 *     ew_interpret.c  runs a group strip by strip     ew_plan.c    what is where then
 *                                                     ew_loops.c   one vector loop an expression
 *     ew_reference.c  runs a group in double
 *     ew_blame.c      finds the node that a bad number comes from
 *     ew_generate.c   a group as source text, after that of codelets/kernels/ew_math.def
 *     ew_library.c    source text -> functions
 *     ew_folder.c     where compiled text is kept
 *     ew_cache.c      its files there                 ew_compile.c calls the system's compiler
 *     ew_process.c    ... for so long and no longer
 */
#ifndef CAVS_CODELETS_GROUPS_EW_INTERNAL_H
#define CAVS_CODELETS_GROUPS_EW_INTERNAL_H

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "codelets/groups/elementwise.h"
#include "core/base/hash.h"

/* ---- expressions ---- */

/* An expression of elementwise.def. */
const char *cavs__ew_text(int op, int which);

/* Length of the token that text starts with: a name, a number, or one other character. *letter: it
 * is one of the variables a, b, s, y, g. */
int cavs__ew_token(const char *text, bool *letter);

/* One expression over n numbers, without aliasing. Arrays of letters that it does not read may be
 * anything readable. */
typedef void cavs__ew_loop(int n, float *out, const float *a, const float *b, const float *y,
                           const float *g, float s);
cavs__ew_loop *cavs__ew_loop_of(int op, int which);

/* ---- a group ---- */

/* The function made from a group's source text. */
typedef void cavs__ew_compiled(int rows, const struct cavs__view *v);

#define CAVS__EW_MIN_STRIP 16 /* when many values are alive: the cache then misses, nothing else */

/* How the interpreter runs a group. */
struct cavs__ew_plan {
    int nslots;      /* strip buffers needed at once */
    int strip;       /* numbers in one */
    int *input_slot; /* [ninputs] where an input is collected if its rows are not side by side */
    struct cavs__ew_step {
        cavs__ew_loop *loop; /* NULL: the constant s */
        int from[4];         /* operands for a, b, y, g */
        int slot;
        int output; /* the first one that holds it; -1: none */
        bool later; /* written when all inputs have been read: it lies over one */
        float s;
    } * steps; /* [nnodes] */
};

struct cavs__ew_program {
    struct cavs__ew_spec spec; /* a copy, all in the memory of this program */
    struct cavs__ew_plan plan;
    struct cavs__ew_library *library; /* NULL: interpreted */
    cavs__ew_compiled *compiled;
    struct cavs__ew_program *next_pending; /* batch under way */
    const void *elsewhere;                 /* who also runs it by other means, and the number it */
    int number_there;                      /* has there; NULL: nobody */
    uint64_t hash;                         /* of spec */
    int function;                          /* number in the source text of its batch */
};

/* The input in whose place output k lies, or -1. */
static inline int cavs__ew_over(const struct cavs__ew_spec *spec, int k)
{
    return spec->over ? spec->over[k] : -1;
}

/* Copies a description into memory of its own: 0, or -1 when out of memory.  What there is of it
 * has to be freed in both cases. */
int cavs__ew_copy_spec(struct cavs__ew_spec *to, const struct cavs__ew_spec *from);
void cavs__ew_free_spec(struct cavs__ew_spec *spec);
/* Is each value computed from inputs and from those before it?  And may all outputs lie where they
 * shall? */
bool cavs__ew_well_formed(const struct cavs__ew_spec *spec);
uint64_t cavs__ew_hash_spec(const struct cavs__ew_spec *s);
bool cavs__ew_same_spec(const struct cavs__ew_spec *a, const struct cavs__ew_spec *b);

/* 0, or -1 when out of memory. */
int cavs__ew_plan_make(struct cavs__ew_plan *plan, const struct cavs__ew_spec *spec);
void cavs__ew_plan_free(struct cavs__ew_plan *plan);
void cavs__ew_interpret(const struct cavs__ew_program *p, int rows, const struct cavs__view *v);

/* ---- source text ---- */

/* How one language spells a group. In these texts $f is the function's name, $w the width, $n
 * cavs__ew_at_once(), $i the number of a view and $x what is stored, or the number of the view that
 * is loaded. A group is written as
 *     open  parameter...  body  input|scalar|output...
 *     loop  load|load_scalar...  nodes  store...  close
 * with one "..." part for each view that it concerns.  A group whose width is a multiple of `chunk`
 * (0: none) has
 *     open  parameter...  far_body  input|scalar|output...  far_input|far_output...
 *     chunk_loop  fetch_input|fetch_output...  far_loop  load|load_scalar... and so on, inner_close
 * and fetches what it reads before it computes: on a CPU into the nearest cache, for a row that
 * comes soon, since it has many operands, more than a processor sees coming. */
struct cavs__ew_dialect {
    const char *name;
    const char *preamble; /* what ew_math.def asks for, helpers; then comes that text itself */
    const char *open, *parameter, *body;
    const char *input, *scalar, *output;
    const char *loop, *load, *load_scalar, *store, *close;
    int vector; /* other loop and close for widths above this one and no multiple of it; 0: none */
    const char *ragged_loop, *inner_close;
    int chunk;
    const char *far_body, *far_input, *far_output, *chunk_loop, *fetch_input, *fetch_output;
    const char *far_loop;
};
extern const struct cavs__ew_dialect cavs__ew_dialect_c;

/* Writes what comes before all groups of a source file, and one group as function `name`. */
void cavs__ew_generate_preamble(FILE *to, const struct cavs__ew_dialect *d);
void cavs__ew_generate(FILE *to, const struct cavs__ew_dialect *d, const struct cavs__ew_spec *spec,
                       const char *name);

/* ---- shared objects ---- */

/* The functions of a source text: from the cache, or compiled now. NULL if there is no way; then
 * cavs__ew_fallback_reason() says why. To be closed as often as opened and referenced. */
struct cavs__ew_library *cavs__ew_library_open(const char *source);
struct cavs__ew_library *cavs__ew_library_ref(struct cavs__ew_library *l);
void cavs__ew_library_close(struct cavs__ew_library *l);
cavs__ew_compiled *cavs__ew_library_find(struct cavs__ew_library *l, const char *name);

/* ew_folder.c: the folder for shared objects, made if need be, without symbolic links in its path:
 * 0, or -1 with the reason set. */
int cavs__ew_cache_folder(char *path, size_t size);
/* Ours, and nobody else may write to it. */
bool cavs__ew_is_private(const struct stat *st);
/* A descriptor of the file, if it is a complete object for this key that only we can have written;
 * -1 if not. */
int cavs__ew_cache_open(const char *path, const uint64_t key[2]);
/* The content of such a file, to be freed; NULL: there is none that is whole and ours. */
void *cavs__ew_cache_read(const char *path, const uint64_t key[2], size_t *size);
/* Makes such a file of `data`.  0, or -1. */
int cavs__ew_cache_write(const char *path, const uint64_t key[2], const void *data, size_t size);
/* Seals what a compiler has made for this key, and gives it its name. 0, or -1 with errno set. */
int cavs__ew_cache_publish(const char *made, const char *path, const uint64_t key[2]);

/* Runs a command without a shell, its output in a file.  One that takes more than
 * cavs__ew_process_limit() seconds is killed with all it has started. */
enum cavs__ew_end { CAVS__EW_DONE, CAVS__EW_FAILED, CAVS__EW_TOO_LATE };
enum cavs__ew_end cavs__ew_process_run(char *const argv[], const char *log_path);
/* $CAVS_COMPILE_TIMEOUT, or a default; 0: no limit. */
long cavs__ew_process_limit(void);

/* A compiler command: the words of $CC, or cc. `identity` changes with the command, the compiler's
 * file, our flags and the CPU. */
struct cavs__ew_compiler {
    char *words;       /* what the words point into */
    const char **word; /* [nwords] */
    int nwords;
    uint64_t identity;
};
/* 0, or -1 with the reason set. */
int cavs__ew_compiler_find(struct cavs__ew_compiler *c);
/* Makes the object; false, with the reason set, if the compiler refuses or takes too long. */
bool cavs__ew_compiler_run(const struct cavs__ew_compiler *c, const char *source_path,
                           const char *object_path, const char *log_path);
void cavs__ew_compiler_free(struct cavs__ew_compiler *c);

/* Remembers why groups are interpreted. */
void cavs__ew_fallback(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
