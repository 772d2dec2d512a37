/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of element-wise operators, interpreted: they write their outputs and nothing else. */
#include "tests/groups.h"
#include "tests/fuzz/targets.h"

enum { MOST_NODES = 40, MOST_INPUTS = 6 };

/* An input or an earlier node. */
static int operand(const struct group *g, struct fuzz_bytes *b)
{
    int i = fuzz_byte(b) % (g->spec.ninputs + g->spec.nnodes);

    return i < g->spec.ninputs ? ~i : i - g->spec.ninputs;
}

static void add_node(struct group *g, struct fuzz_bytes *b)
{
    int op = fuzz_byte(b) % (cavs__ew_count() + 1), which, in[CAVS__EW_MAX_OPERANDS] = {0};
    float s = (float)(int8_t)fuzz_byte(b) / 16;

    if (op == cavs__ew_count()) {
        group_constant(g, s);
        return;
    }
    which = fuzz_byte(b) % (cavs__ew_arity(op) + 1);
    for (int k = 0; cavs__ew_operands(op, which)[k]; k++)
        in[k] = operand(g, b);
    group_node(g, op, which, in, s);
}

static void take(struct group *g, struct fuzz_bytes *b)
{
    int inputs, outputs;

    group_start(g, 1 + fuzz_byte(b) % 40);
    inputs = 1 + fuzz_byte(b) % MOST_INPUTS;
    outputs = 1 + fuzz_byte(b) % 4;
    for (int i = 0; i < inputs; i++)
        fuzz_byte(b) % 4 ? group_input(g) : group_scalar(g);
    while (b->size > 8 && g->spec.nnodes < MOST_NODES)
        add_node(g, b);
    for (int i = 0; i < outputs; i++)
        group_output(g, operand(g, b));
}

void fuzz_groups(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    struct cavs__ew_program *p;
    struct group_data d;
    struct group g;
    uint64_t random = 1;
    int rows = fuzz_byte(&b) % 20;

    take(&g, &b);
    p = cavs__ew_program_create(&g.spec, CAVS__EW_INTERPRET);
    FUZZ_MUST(p, "no memory");
    group_data_init(&d, &g.spec, rows, -4, 4, &random);
    for (int reference = 0; reference < 2; reference++) {
        group_data_unset(&d);
        (reference ? cavs__ew_run_reference : cavs__ew_run)(p, rows, d.views);
        FUZZ_MUST(group_data_untouched_outside(&d), "written beside the outputs");
    }
    if (rows)
        cavs__ew_blame(p, d.views, rows - 1, g.spec.width - 1);
    group_data_free(&d);
    cavs__ew_program_destroy(p);
}
