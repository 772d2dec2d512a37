/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_kernels.c - see gpu.h.
 *
 * A module is a shared object; each device loads a file of its own, so that each has its own
 * variables.  A block's threads are fibers, which change at barriers only; a kernel whose first
 * thread meets none has no need of them.  Which thread is first and which direction they go changes
 * from block to block, and shared memory is full of NaN: a missing barrier shows.
 */
#include "tests/cuda/gpu.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_ITEMS = 1024, STACK = 64 << 10, MOST_BYTES = 4096, MOST_BLOCKS_Y = 65535 };

struct gpu_function {
    struct gpu_function *next;
    struct gpu_module *module;
    const struct gpu_kernel *kernel;
};
struct gpu_module {
    int device;
    void *library;
    struct gpu_place *place;
    const struct gpu_kernel *kernels;
    struct gpu_function *functions;
};

/* ---- modules ---- */

/* From a file of its own, which is gone afterwards. */
static void *open_image(const void *image, size_t bytes)
{
    const char *tmp = getenv("TMPDIR");
    char path[300];
    void *library;
    int fd;

    snprintf(path, sizeof path, "%s/stand-in.XXXXXX", tmp ? tmp : "/tmp");
    fd = mkstemp(path);
    if (fd < 0 || write(fd, image, bytes) != (ssize_t)bytes)
        gpu_complain("a module of %zu bytes cannot be written", bytes);
    close(fd);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "stand-in GPU: %s\n", dlerror());
    unlink(path);
    return library;
}

struct gpu_module *gpu_module_load(int device, const void *image, size_t bytes)
{
    struct gpu_module *m = calloc(1, sizeof *m);

    if (!m)
        gpu_complain("the machine has no memory for a module");
    m->device = device;
    m->library = open_image(image, bytes);
    m->place = m->library ? dlsym(m->library, "gpu_place") : NULL;
    m->kernels = m->library ? dlsym(m->library, "gpu_kernels") : NULL;
    if (!m->place || !m->kernels) {
        free(m);
        return NULL;
    }
    gpu_count(&gpu_counts.modules, 1);
    return m;
}

void gpu_module_unload(struct gpu_module *m)
{
    if (!gpu_idle(m->device))
        gpu_complain("a module of device %d is unloaded while there is work on the device",
                     m->device);
    for (struct gpu_function *f = m->functions, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    dlclose(m->library);
    free(m);
}

struct gpu_function *gpu_module_find(struct gpu_module *m, const char *name)
{
    const struct gpu_kernel *k = m->kernels;
    struct gpu_function *f;

    while (k->name && strcmp(k->name, name) != 0)
        k++;
    f = k->name ? malloc(sizeof *f) : NULL;
    if (f) {
        *f = (struct gpu_function){m->functions, m, k};
        m->functions = f;
    }
    return f;
}

int gpu_function_device(const struct gpu_function *f)
{
    return f->module->device;
}

/* ---- the threads of a block ---- */

enum state { NEW, AT_BARRIER, DONE };

struct fiber {
    char *stack;
    jmp_buf context;
    enum state state;
    int line; /* of the barrier that it waits at */
};
/* What a device's thread is at. */
static _Thread_local struct {
    struct fiber fibers[MOST_ITEMS];
    struct fiber *running;
    jmp_buf scheduler;
    ucontext_t starting;
    const struct gpu_kernel *kernel;
    void **arguments;
} at;

static void body(void)
{
    at.kernel->run(at.arguments);
    at.running->state = DONE;
    _longjmp(at.scheduler, 1);
}

static void start(struct fiber *f)
{
    ucontext_t begin;

    if (!f->stack)
        f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (f->stack == MAP_FAILED || getcontext(&begin))
        gpu_complain("the machine has no memory for a thread of a block");
    begin.uc_stack.ss_sp = f->stack;
    begin.uc_stack.ss_size = STACK;
    begin.uc_link = NULL;
    makecontext(&begin, body, 0);
    setcontext(&begin);
}

/* Until its next barrier, or its end. */
static void resume(struct gpu_place *place, unsigned thread)
{
    struct fiber *f = &at.fibers[thread];

    place->thread = thread;
    at.running = f;
    if (_setjmp(at.scheduler) == 0) {
        if (f->state == NEW)
            start(f);
        else
            _longjmp(f->context, 1);
    }
}

static void barrier(int line)
{
    struct fiber *f = at.running;

    if (!f)
        gpu_complain("%s: a barrier that the block's first thread does not meet", at.kernel->name);
    f->state = AT_BARRIER;
    f->line = line;
    if (_setjmp(f->context) == 0)
        _longjmp(at.scheduler, 1);
}

/* Which thread is the i-th of a block. */
static unsigned turn(unsigned i, unsigned items, unsigned turned)
{
    return turned & 1 ? items - 1 - (i + turned / 2) % items : (i + turned / 2) % items;
}

static void run_without_barrier(struct gpu_place *place, unsigned turned)
{
    at.running = NULL;
    for (unsigned i = 1; i < place->items; i++) {
        place->thread = turn(i, place->items, turned);
        at.kernel->run(at.arguments);
    }
}

static void check_barrier(const struct fiber *first, unsigned items)
{
    for (unsigned i = 0; i < items; i++)
        if (at.fibers[i].state != first->state ||
            (first->state == AT_BARRIER && at.fibers[i].line != first->line))
            gpu_complain("%s: a barrier that not all threads of a block meet", at.kernel->name);
}

static void run_block(struct gpu_place *place, unsigned turned)
{
    const struct fiber *first = &at.fibers[turn(0, place->items, turned)];

    place->waited = 0;
    memset(place->shared, 0xff, (size_t)(place->shared_end - place->shared));
    for (unsigned i = 0; i < place->items; i++)
        at.fibers[i].state = NEW;
    resume(place, turn(0, place->items, turned));
    if (first->state == DONE) {
        run_without_barrier(place, turned);
        return;
    }
    for (unsigned i = 1;; i = 0) {
        for (; i < place->items; i++)
            resume(place, turn(i, place->items, turned));
        check_barrier(first, place->items);
        if (first->state == DONE)
            return;
    }
}

/* ---- launches ---- */

struct launch {
    struct gpu_op op;
    const struct gpu_function *function;
    unsigned blocks[2];
    bool overlaps;
    void **arguments; /* copies */
};

/* Pointers become those that the device reads and writes by. */
static void enter(struct launch *l)
{
    const struct gpu_kernel *k = l->function->kernel;
    int device = l->function->module->device;

    for (int i = 0; i < k->arguments; i++) {
        void **p = l->arguments[i];

        if (!k->pointers[i] || !*p)
            continue;
        if (!gpu_is_allocated(device, *p, 1))
            gpu_complain("%s: argument %d, %p, is not allocated on device %d", k->name, i, *p,
                         device);
        *p = gpu_inside(*p);
    }
}

static void run_launch(struct gpu_op *op)
{
    struct launch *l = (struct launch *)op;
    struct gpu_place *place = l->function->module->place;

    enter(l);
    at.kernel = l->function->kernel;
    at.arguments = l->arguments;
    place->items = (unsigned)at.kernel->items;
    place->barrier = barrier;
    memcpy(place->blocks, l->blocks, sizeof l->blocks);
    for (unsigned y = 0; y < l->blocks[1]; y++)
        for (unsigned x = 0; x < l->blocks[0]; x++) {
            place->block[0] = x;
            place->block[1] = y;
            run_block(place, (unsigned)(op->number * 7 + x * 5 + y * 3));
            if (l->overlaps && place->waited != place->items)
                gpu_complain("%s: begins before the launch before has ended, and does not wait",
                             at.kernel->name);
        }
    gpu_arguments_free(l->arguments);
}

static size_t bytes_of(const struct gpu_kernel *k)
{
    size_t bytes = 0;

    for (int i = 0; i < k->arguments; i++)
        bytes = (bytes + k->sizes[i] - 1) / k->sizes[i] * k->sizes[i] + k->sizes[i];
    return bytes;
}

static const char *wrong(const struct gpu_kernel *k, const unsigned blocks[3],
                         const unsigned items[3])
{
    if (blocks[0] == 0 || blocks[0] > INT32_MAX || blocks[1] == 0 || blocks[1] > MOST_BLOCKS_Y ||
        blocks[2] != 1)
        return "so many blocks cannot be";
    if (items[1] != 1 || items[2] != 1 || items[0] != (unsigned)k->items || k->items > MOST_ITEMS)
        return "a block has another number of threads than the kernel was compiled for";
    return bytes_of(k) > MOST_BYTES ? "the arguments have too many bytes" : NULL;
}

/* The numbers stand behind the addresses. */
void **gpu_arguments_copy(const struct gpu_function *f, void **arguments)
{
    const struct gpu_kernel *k = f->kernel;
    size_t n = (size_t)k->arguments;
    void **copy = calloc(2 * n + 1, sizeof *copy);

    if (!copy)
        gpu_complain("the machine has no memory for a launch");
    for (size_t i = 0; i < n; i++) {
        copy[i] = &copy[n + i];
        memcpy(copy[i], arguments[i], k->sizes[i]);
    }
    return copy;
}

void gpu_arguments_free(void **copy)
{
    free(copy);
}

const char *gpu_launch(struct gpu_function *f, const unsigned blocks[3], const unsigned items[3],
                       bool overlaps, struct gpu_stream *s, void **arguments)
{
    const struct gpu_kernel *k = f->kernel;
    const char *why = wrong(k, blocks, items);
    struct launch *l;

    if (why)
        return why;
    l = gpu_op(sizeof *l, run_launch);
    l->function = f;
    l->overlaps = overlaps;
    memcpy(l->blocks, blocks, sizeof l->blocks);
    l->arguments = gpu_arguments_copy(f, arguments);
    gpu_count(&gpu_counts.launches, 1);
    gpu_count(&gpu_counts.blocks[f->module->device], (long)blocks[0] * blocks[1]);
    gpu_issue(f->module->device, s, l);
    return NULL;
}
