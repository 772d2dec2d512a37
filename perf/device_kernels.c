/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_kernels - how near a device's kernels that are no products come to what its memory
 * allows, each at the shapes that it has in programs.
 *
 *     device_kernels [--device opencl] [--divide N] [NAME]
 *
 * prints for each shape (of NAME only): microseconds a launch, the bytes that have to be read and
 * written, GB/s, and the time of a copy of as many bytes as a share of its own.  The copy reads
 * half of them and writes the other half, which is not more than the nearest memory holds if the
 * kernel's is not.  A share of a short launch says little: the host launches no faster.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/option_table.h"
#include "apps/common/progress.h"
#include "codelets/device/device.h"
#include "codelets/device/sequences.h"
#include "codelets/groups/elementwise.h"
#include "codelets/update.h"
#include "core/cavs.h"
#include "perf/device_asked.h"
#include "perf/device_shapes.h"

enum { TRIES = 5 };
static const double LEAST_SECONDS = 0.002; /* of one timing */

/* A copy by the book, to compare with. */
static const char copy_text[] =
#include "codelets/device/dialect.inc"
    "KERNEL(256) copy(GLOBAL const float4 *x, GLOBAL float4 *y, long y_at, int n)\n"
    "{\n"
    "    int first = GROUP_X * 1024 + ITEM;\n"
    "    float4 part[4];\n"
    "    UNROLL\n"
    "    for (int k = 0; k < 4; k++)\n"
    "        if (first + k * 256 < n)\n"
    "            part[k] = x[first + k * 256];\n"
    "    UNROLL\n"
    "    for (int k = 0; k < 4; k++)\n"
    "        if (first + k * 256 < n)\n"
    "            y[y_at + first + k * 256] = part[k];\n"
    "}\n";

struct program {
    struct device_asked asked;
    int divide;
    const char *only;
    struct scene scenes[MOST_SHAPES];
    bool printed;
};

/* ---- options --------------------------------------------------------------------------------- */

enum key { KEY_DEVICE = 1, KEY_DIVIDE };

static const struct argp_option options[] = {
    DEVICE_OPTION(KEY_DEVICE),
    {"divide", KEY_DIVIDE, "N", 0, "so many times fewer rows (for a device that is a CPU)", 1},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct program *p = state->input;

    switch (key) {
    case KEY_DEVICE: device_option(&p->asked, arg, state); break;
    case KEY_DIVIDE: p->divide = app_int(state, "divide", arg, 1, 1 << 20); break;
    case ARGP_KEY_ARG:
        if (p->only)
            argp_error(state, "unexpected argument '%s'", arg);
        p->only = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[NAME]",
    .doc = "Measures a device's kernels that are no products against a copy of as many bytes."};

/* ---- what is queued -------------------------------------------------------------------------- */

/* A scene on a device, or the copy that it is compared with. */
struct work {
    struct cavs__device *device;
    struct scene *scene; /* NULL: the copy */
    void *copy, *memory, *index;
    double bytes;
};

/* What an update reads and writes lies one after the other: values, two states, the transposed
 * copy, the gradient, room. */
enum { VALUES, FIRST, SECOND, COPY, GRADIENT, ROOM, ARRAYS };

static int queue_update(const struct work *w, bool sparse, bool norm)
{
    const struct scene *s = w->scene;
    const struct cavs__update u = {.rule = CAVS_ADAM,
                                   .lr = 0.001f,
                                   .scale = 1,
                                   .correction1 = 0.1f,
                                   .correction2 = 0.001f,
                                   .beta1 = 0.9f,
                                   .beta2 = 0.999f,
                                   .epsilon = 1e-8f};
    const struct cavs__device_clip none = {0};
    int cols = s->v[0].cols;
    struct cavs__memory m[ARRAYS];
    struct cavs__device_gradient g = {.ngrads = 1,
                                      .g = &m[GRADIENT],
                                      .ld = cols,
                                      .sparse = sparse,
                                      .lists = w->index,
                                      .ids = s->order,
                                      .ptr = s->numbers,
                                      .source = s->zeros,
                                      .row = s->order,
                                      .n = s->rows,
                                      .cols = cols,
                                      .floats = (size_t)s->rows * (size_t)cols};
    struct cavs__device_param p = {.ld = cols, .ldt = s->rows};

    for (int i = 0; i < ARRAYS; i++)
        m[i] = (struct cavs__memory){w->memory, (int64_t)i * s->rows * cols};
    g.room = m[ROOM];
    p.w = m[VALUES];
    p.s0 = m[FIRST];
    p.s1 = m[SECOND];
    if (!sparse)
        p.wt = m[COPY];
    return norm ? cavs__device_norm(w->device, &g, m[ROOM], 0)
                : cavs__device_update(w->device, &u, &g, &p, &none);
}

static int queue_sequence(const struct scene *s, struct cavs__device_call *c)
{
    struct cavs__device_call second = *c;
    const struct cavs__device_call *calls[] = {c, &second};

    c->sequence = &s->sequence;
    c->call = &s->steps[0].call;
    c->nviews = 2;
    second.v += 2;
    second.nviews -= 2;
    second.ptr = -1;
    return cavs__device_sequence(2, calls);
}

static int queue(const struct work *w)
{
    const struct scene *s = w->scene;
    const char *name = s->shape->name;
    struct cavs__device_call c = {.device = w->device,
                                  .call = &s->call,
                                  .rows = s->rows,
                                  .v = s->v,
                                  .nviews = s->nviews,
                                  .flags = CAVS__FIRST,
                                  .index = w->index,
                                  .vertices = s->rows,
                                  .ptr = -1,
                                  .room = {w->memory, s->floats}};

    if (s->sequence.n > 0)
        return queue_sequence(s, &c);
    if (s->call.kernel)
        return cavs__device_queue(&c);
    if (strcmp(name, "copy_rows") == 0)
        return cavs__device_copy_rows(w->device, w->index, s->rows, &s->v[0], &s->v[1]);
    return queue_update(w, strcmp(name, "sparse update") == 0, strcmp(name, "norm") == 0);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int launch_once(const struct work *w)
{
    struct cavs__launch l;
    int64_t n = (int64_t)(w->bytes / 32) + 1; /* of four numbers, each read and written */

    if (w->scene)
        return queue(w);
    cavs__launch_kernel(&l, w->copy, (n + 1023) / 1024, 1, 256);
    cavs__argument_pointer(&l, w->memory);
    cavs__argument_memory(&l, (struct cavs__memory){w->memory, n});
    cavs__argument_int(&l, n);
    return cavs__launch(w->device, &l);
}

/* Seconds of n launches one after the other; below 0: they fail. */
static double seconds_of(const struct work *w, int n)
{
    double begin = app_now();

    for (int i = 0; i < n; i++)
        if (launch_once(w))
            return -1;
    cavs__device_flush(w->device);
    return w->device->driver->finish(w->device) ? -1 : app_now() - begin;
}

static double time_of(const struct work *w)
{
    int n = 1;
    double seconds = seconds_of(w, n), best;

    while (seconds >= 0 && seconds < LEAST_SECONDS && n < 1 << 16)
        seconds = seconds_of(w, n *= 2);
    best = seconds;
    for (int i = 0; i < TRIES && seconds >= 0; i++) {
        seconds = seconds_of(w, n);
        best = seconds < best ? seconds : best;
    }
    return best / n;
}

/* Of the memory: operands and room, what an update has, or both sides of the copy. */
static int64_t floats_of(const struct scene *s)
{
    int64_t most = s->floats * 5 / 4, update = (int64_t)ARRAYS * s->rows * s->v[0].cols;

    most = most > update ? most : update;
    return (most > (int64_t)s->bytes / 4 ? most : (int64_t)s->bytes / 4) + 4096;
}

static void measure_scene(struct scene *s, struct work copy)
{
    struct work kernel = copy;
    size_t bytes;
    int32_t *index = scene_index(s, &bytes);
    double us, copy_us;

    kernel.scene = s;
    kernel.index = index ? copy.device->driver->allocate(copy.device, bytes, index) : NULL;
    free(index);
    if (!kernel.index)
        return;
    for (int i = 0; i < s->nviews; i++)
        s->v[i].memory.p = s->kind[i] == 'n' ? NULL : kernel.memory;
    copy.bytes = s->bytes;
    us = 1e6 * time_of(&kernel);
    copy_us = 1e6 * time_of(&copy);
    if (us > 0 && copy_us > 0)
        printf("%-18s %6d x %-26s %9.2f us %8.2f MB %8.1f GB/s %6.1f %%\n", s->shape->name, s->rows,
               s->shape->views, us, 1e-6 * s->bytes, 1e-3 * s->bytes / us, 100 * copy_us / us);
    copy.device->driver->release(copy.device, kernel.index);
}

static bool is_asked_for(const struct program *p, const struct scene *s)
{
    return !p->only || strcmp(p->only, s->shape->name) == 0;
}

/* As much as the largest scene needs. */
static void *make_memory(const struct program *p, struct cavs__device *d)
{
    int64_t n = 0;
    float *content;
    void *memory;

    for (int i = 0; i < nshapes; i++)
        if (is_asked_for(p, &p->scenes[i]) && floats_of(&p->scenes[i]) > n)
            n = floats_of(&p->scenes[i]);
    content = malloc((size_t)n * sizeof *content);
    for (int64_t i = 0; content && i < n; i++)
        content[i] = (float)(i % 17) / 17.0f - 0.5f;
    memory = content && n > 0 ? d->driver->allocate(d, (size_t)n * sizeof *content, content) : NULL;
    free(content);
    return memory;
}

/* By a worker of the device. */
static void measure(struct cavs__device *d, void *arg)
{
    struct program *p = arg;
    struct work copy = {.device = d, .memory = make_memory(p, d)};
    void *module = cavs__device_build(d, copy_text);

    copy.copy = module ? d->driver->find(d, module, "copy") : NULL;
    printf("%s\n", d->name);
    for (int i = 0; i < nshapes && copy.copy && copy.memory; i++)
        if (is_asked_for(p, &p->scenes[i]))
            measure_scene(&p->scenes[i], copy);
    p->printed = copy.copy && copy.memory && d->usable && fflush(stdout) == 0;
    if (copy.memory)
        d->driver->release(d, copy.memory);
    if (module)
        d->driver->unload(d, module, 1, &copy.copy);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void run(struct program *p)
{
    struct cavs__ew_program *programs[MOST_SHAPES];
    struct cavs__sequence *sequences[MOST_SHAPES];
    struct cavs__device_texts texts = {.programs = programs, .sequences = sequences};
    struct cavs__device_groups *groups;

    for (int i = 0; i < nshapes; i++) {
        struct scene *s = &p->scenes[i];

        scene_make(s, &shapes[i], p->divide);
        if (s->sequence.n > 0)
            sequences[texts.nsequences++] = &s->sequence;
        else if (s->program)
            programs[texts.nprograms++] = s->program;
    }
    groups = cavs__device_groups_create(NULL, &texts);
    if (groups)
        cavs__devices_each(measure, p);
    for (int i = 0; i < nshapes; i++)
        if (p->scenes[i].program)
            cavs__ew_program_destroy(p->scenes[i].program);
    if (groups)
        cavs__device_groups_destroy(groups);
}

int main(int argc, char **argv)
{
    static struct program p = {.divide = 1};
    struct cavs_runtime *rt;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &p);
    rt = device_runtime(&p.asked);
    if (!rt)
        return 1;
    run(&p);
    if (!p.printed)
        fprintf(stderr, "device_kernels: the device, its memory or stdout failed\n");
    cavs_runtime_destroy(rt);
    return !p.printed;
}
