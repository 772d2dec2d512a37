/* SPDX-License-Identifier: Apache-2.0 */
/* ew_program.c - a group's life: created (alone or in a batch that is compiled together), run,
 * destroyed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/groups/ew_internal.h"
#include "core/base/notice.h"

/* The batch that this thread has begun.  Its programs run interpreted until the batch ends. */
static _Thread_local struct {
    int depth;
    struct cavs__ew_program *first;
} batch;

/* ---- compiling ---- */

static bool same_group(const struct cavs__ew_program *p, const struct cavs__ew_program *q)
{
    return p->hash == q->hash && cavs__ew_same_spec(&p->spec, &q->spec);
}

/* Equal groups, such as the pieces of one that was cut, share a function. */
static void number_functions(struct cavs__ew_program *list)
{
    int n = 0;

    for (struct cavs__ew_program *p = list; p; p = p->next_pending) {
        const struct cavs__ew_program *q = list;

        while (q != p && !same_group(q, p))
            q = q->next_pending;
        p->function = q != p ? q->function : n++;
    }
}

/* One source file with the functions of all programs of a list; NULL when out of memory. */
static char *source_of(const struct cavs__ew_program *list)
{
    char *text = NULL, name[32];
    size_t size;
    FILE *to = open_memstream(&text, &size);
    int n = 0;

    if (!to)
        return NULL;
    cavs__ew_generate_preamble(to, &cavs__ew_dialect_c);
    for (; list; list = list->next_pending) {
        if (list->function != n)
            continue;
        snprintf(name, sizeof name, "group%d", n++);
        cavs__ew_generate(to, &cavs__ew_dialect_c, &list->spec, name);
    }
    if (fclose(to)) {
        free(text);
        return NULL;
    }
    return text;
}

static void say_interpreted(void)
{
    const char *reason = cavs__ew_fallback_reason();

    cavs__notice("fused groups of operators are interpreted, which is slower: %s",
                 reason ? reason : "out of memory");
}

static void compile(struct cavs__ew_program *list)
{
    struct cavs__ew_library *library;
    char *source, name[32];

    number_functions(list);
    source = source_of(list);
    library = source ? cavs__ew_library_open(source) : NULL;
    if (!library)
        say_interpreted();
    for (struct cavs__ew_program *next; list; list = next) {
        next = list->next_pending;
        list->next_pending = NULL;
        snprintf(name, sizeof name, "group%d", list->function);
        list->compiled = library ? cavs__ew_library_find(library, name) : NULL;
        if (list->compiled)
            list->library = cavs__ew_library_ref(library);
    }
    cavs__ew_library_close(library);
    free(source);
}

void cavs__ew_batch_begin(void)
{
    batch.depth++;
}

struct cavs__ew_program *cavs__ew_batch_take(void)
{
    struct cavs__ew_program *list = batch.first;

    if (--batch.depth > 0)
        return NULL;
    batch.first = NULL;
    return list;
}

void cavs__ew_batch_compile(struct cavs__ew_program *programs)
{
    compile(programs);
}

static void *compile_aside(void *list)
{
    compile(list);
    return NULL;
}

void cavs__ew_batch_end_aside(bool aside, struct cavs__ew_compiling *c)
{
    struct cavs__ew_program *list = cavs__ew_batch_take();

    c->threaded = aside && list && pthread_create(&c->thread, NULL, compile_aside, list) == 0;
    if (list && !c->threaded)
        compile(list);
}

void cavs__ew_batch_end(void)
{
    struct cavs__ew_compiling none;

    cavs__ew_batch_end_aside(false, &none);
}

void cavs__ew_batch_wait(struct cavs__ew_compiling *c)
{
    if (c->threaded)
        pthread_join(c->thread, NULL);
    c->threaded = false;
}

/* Appends, so that the same programs in the same order give the same source. */
static void add_to_batch(struct cavs__ew_program *p)
{
    struct cavs__ew_program **at = &batch.first;

    while (*at)
        at = &(*at)->next_pending;
    *at = p;
}

static void remove_from_batch(struct cavs__ew_program *p)
{
    struct cavs__ew_program **at = &batch.first;

    while (*at && *at != p)
        at = &(*at)->next_pending;
    if (*at)
        *at = p->next_pending;
}

/* ---- programs ---- */

static bool wants_compiler(enum cavs__ew_mode mode)
{
    const char *fusion = getenv("CAVS_FUSION");

    if (mode != CAVS__EW_AUTO || !fusion || !*fusion)
        return mode == CAVS__EW_AUTO;
    if (!strcmp(fusion, "interpret"))
        return false;
    cavs__notice("CAVS_FUSION=%s means nothing: only 'interpret' does; groups are compiled",
                 fusion);
    return true;
}

struct cavs__ew_program *cavs__ew_program_create(const struct cavs__ew_spec *spec,
                                                 enum cavs__ew_mode mode)
{
    struct cavs__ew_program *p;

    assert(cavs__ew_well_formed(spec));
    p = spec->ninputs + spec->nnodes <= CAVS__EW_MAX_VALUES ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    if (cavs__ew_copy_spec(&p->spec, spec) || cavs__ew_plan_make(&p->plan, &p->spec)) {
        cavs__ew_free_spec(&p->spec);
        free(p);
        return NULL;
    }
    p->hash = cavs__ew_hash_spec(&p->spec);
    if (!wants_compiler(mode))
        return p;
    if (batch.depth > 0)
        add_to_batch(p);
    else
        compile(p);
    return p;
}

void cavs__ew_program_destroy(struct cavs__ew_program *p)
{
    if (!p)
        return;
    remove_from_batch(p);
    cavs__ew_library_close(p->library);
    cavs__ew_plan_free(&p->plan);
    cavs__ew_free_spec(&p->spec);
    free(p);
}

const struct cavs__ew_spec *cavs__ew_program_spec(const struct cavs__ew_program *p)
{
    return &p->spec;
}

bool cavs__ew_program_compiled(const struct cavs__ew_program *p)
{
    return p->compiled;
}

void cavs__ew_run(const struct cavs__ew_program *p, int rows, const struct cavs__view *v)
{
    if (p->compiled)
        p->compiled(rows, v);
    else
        cavs__ew_interpret(p, rows, v);
}

/* ---- the kernel ---- */

static void run(const struct cavs__call *call, int rows, const struct cavs__view *v, unsigned flags)
{
    (void)flags;
    cavs__ew_run(call->program, rows, v);
}

static void run_reference(const struct cavs__call *call, int rows, const struct cavs__view *v,
                          unsigned flags)
{
    (void)flags;
    cavs__ew_run_reference(call->program, rows, v);
}

const struct cavs__kernel cavs__kernel_elementwise = {
    .number = CAVS__KERNEL_elementwise,
    .name = "elementwise",
    .cpu = run,
    .reference = run_reference,
};
