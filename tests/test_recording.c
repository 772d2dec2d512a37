/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recording.c - tapes without a runtime: what is recorded, which signatures it has, and how
 * many V_t there are of it.  Counts come from a pencil.
 */
#include <stdio.h>

#include "core/tape/order.h"
#include "core/tape/tape_blocks.h"
#include "tests/trial.h"

enum { HIDDEN = 32, WORDS = 9, CLASSES = 5, SHARDS = 3 };

/* A model of parameters alone, and a recording. */
struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *V, *b, *c;
    struct cavs__recording r;
};

static void open_scene(struct scene *a, int64_t most)
{
    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, HIDDEN, CAVS_CONSTANT(0));
    a->U = cavs_model_param(a->m, "U", HIDDEN, HIDDEN, CAVS_CONSTANT(0));
    a->V = cavs_model_param(a->m, "V", HIDDEN, CLASSES, CAVS_CONSTANT(0));
    a->b = cavs_model_param(a->m, "b", 1, HIDDEN, CAVS_CONSTANT(0));
    a->c = cavs_model_param(a->m, "c", 1, CLASSES, CAVS_CONSTANT(0));
    check_ok(cavs_model_finish(a->m));
    check_ok(cavs__recording_init(&a->r, a->m, 0, most));
}

static void close_scene(struct scene *a)
{
    cavs__recording_free(&a->r);
    cavs_model_destroy(a->m);
}

static struct cavs_symbol *id(struct scene *a, int number)
{
    return cavs__record_id(&a->r, number, CAVS_HERE);
}

/* tanh(E[word] + h U + b) over some words: 5 symbols a word with something to compute. */
static struct cavs_symbol *chain(struct scene *a, struct cavs_function *f, int words)
{
    struct cavs_symbol *h = cavs_constant(f, HIDDEN, 0);

    for (int i = 0; i < words; i++)
        h = cavs_tanh(cavs_add(cavs_lookup(a->E, id(a, i % WORDS)), cavs_affine(h, a->U, a->b)));
    return h;
}

static void classify(struct scene *a, struct cavs_function *f, struct cavs_symbol *h, int label)
{
    struct cavs_symbol *z = cavs_affine(h, a->V, a->c);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(z, id(a, label)), NULL);
}

/* Puts in order what the losses need, symbol by symbol. */
static void order_all(struct cavs__order *o, struct cavs__recording *r,
                      struct cavs__increment **out)
{
    struct cavs__wanted losses = {.n = r->nsinks, .symbols = r->sinks};
    struct cavs__blocks none = {0};

    check_ok(cavs__order(o, r, &none, &losses));
    for (int i = 0; i < o->nshards; i++)
        check_ok(cavs__order_shard(o, r, i, &out[i]));
}

/* V_t of all that the losses need, over so many shards; every operand is evaluated before. */
static int count(struct scene *a, enum cavs_policy policy, int shards)
{
    struct cavs__increment *out[SHARDS];
    struct cavs__order o;
    int n = 0;

    check_ok(cavs__order_init(&o, shards, policy));
    cavs__order_begin(&o);
    order_all(&o, &a->r, out);
    for (int i = 0; i < shards; i++) {
        for (int v = 0; out[i] && v < out[i]->nvt; v++) {
            const struct cavs__vt *vt = &out[i]->vt[v];

            for (int k = 0; k < vt->n; k++) {
                const struct cavs__vertex *of_row =
                    cavs__vertex_of_row(&a->r, out[i], vt->row0 + k);
                const struct cavs__signature *s =
                    a->r.signatures.all[a->r.signature[of_row->symbol]];

                assert_int_equal(a->r.signature[of_row->symbol], vt->function);
                for (int j = 0; j < s->n; j++) {
                    int of = a->r.reads[of_row->operands + j].of;

                    assert_true(s->operands[j].kind != CAVS__OPERAND_ROW ||
                                cavs__vertex_of(&a->r, of)->line == 1);
                }
            }
            for (int k = 0; k < vt->n; k++)
                cavs__vertex_of_row(&a->r, out[i], vt->row0 + k)->line = 1;
            n++;
        }
    }
    cavs__order_free(&o);
    return n;
}

static void depth_counts_are_those_of_a_pencil(void **unused)
{
    struct scene a;

    (void)unused;
    open_scene(&a, 1000);
    /* lookups of all words are one; then per word product, bias, sum, tanh; then product, bias,
     * loss of the classifier and its metric, for each length */
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    for (int s = 0; s < 4; s++) {
        struct cavs_function *f = cavs__next_sample(&a.r);

        classify(&a, f, chain(&a, f, 6), s);
    }
    assert_int_equal(count(&a, CAVS_POLICY_DEPTH, 1), 1 + 6 * 4 + 4);
    close_scene(&a);
}

/* Chains of two lengths end at two depths: depth runs the classifier twice, the agenda once. */
static void the_agenda_waits_for_what_lies_deeper(void **unused)
{
    int vts[2];

    (void)unused;
    for (int k = 0; k < 2; k++) {
        struct scene a;

        open_scene(&a, 1000);
        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        for (int s = 0; s < 4; s++) {
            struct cavs_function *f = cavs__next_sample(&a.r);

            classify(&a, f, chain(&a, f, 3 + s % 2), s);
        }
        vts[k] = count(&a, k ? CAVS_POLICY_AGENDA : CAVS_POLICY_DEPTH, 1);
        close_scene(&a);
    }
    assert_int_equal(vts[0], 1 + 4 * 4 + 2 * 4);
    assert_int_equal(vts[1], 1 + 4 * 4 + 4);
}

static void samples_that_read_one_another_have_one_shard(void **unused)
{
    struct scene a;
    struct cavs__increment *out[SHARDS];
    struct cavs__order o;
    struct cavs_symbol *h = NULL;
    int shards = 0;

    (void)unused;
    open_scene(&a, 1000);
    check_ok(cavs__order_init(&o, SHARDS, CAVS_POLICY_DEPTH));
    for (int joined = 0; joined < 2; joined++) {
        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        cavs__order_begin(&o);
        for (int s = 0; s < SHARDS; s++) {
            struct cavs_function *f = cavs__next_sample(&a.r);
            struct cavs_symbol *own = chain(&a, f, 2);

            h = joined && s > 0 ? cavs_add(h, own) : own;
            classify(&a, f, h, 0);
        }
        order_all(&o, &a.r, out);
        shards = 0;
        for (int i = 0; i < SHARDS; i++)
            shards += out[i] != NULL;
        assert_int_equal(shards, joined ? 1 : SHARDS);
    }
    cavs__order_free(&o);
    close_scene(&a);
}

/* ---- signatures ---- */

static int signature_of(const struct scene *a, const struct cavs_symbol *x)
{
    return a->r.signature[x->number];
}

static void what_differs_has_another_signature(void **unused)
{
    float row[HIDDEN] = {0};
    struct cavs_symbol *h, *g, *x;
    struct cavs_function *f;
    struct scene a;

    (void)unused;
    open_scene(&a, 1000);
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    f = cavs__next_sample(&a.r);
    h = cavs_lookup(a.E, id(&a, 1));
    g = cavs_lookup(a.E, id(&a, 2));
    x = cavs__record_row(&a.r, HIDDEN, row, CAVS_HERE);
    assert_int_equal(signature_of(&a, h), signature_of(&a, g));
    assert_int_equal(signature_of(&a, cavs_tanh(h)), signature_of(&a, cavs_tanh(g)));
    assert_int_not_equal(signature_of(&a, cavs_tanh(h)), signature_of(&a, cavs_sigmoid(h)));
    assert_int_not_equal(signature_of(&a, cavs_tanh(h)),
                         signature_of(&a, cavs_tanh(x))); /* no gradient */
    assert_int_not_equal(signature_of(&a, cavs_scale(h, 2)), signature_of(&a, cavs_scale(h, 3)));
    assert_int_equal(signature_of(&a, cavs_matmul(h, a.U)), signature_of(&a, cavs_matmul(g, a.U)));
    assert_int_not_equal(signature_of(&a, cavs_matmul(h, a.U)),
                         signature_of(&a, cavs_matmul(h, a.V)));
    assert_int_not_equal(signature_of(&a, cavs_add(h, cavs_use(f, a.b))),
                         signature_of(&a, cavs_add(h, g)));
    /* columns from the begin of a line are alike, others are not */
    assert_int_equal(signature_of(&a, cavs_tanh(cavs_slice(h, 0, 16))),
                     signature_of(&a, cavs_tanh(cavs_slice(h, 16, 16))));
    assert_int_not_equal(signature_of(&a, cavs_tanh(cavs_slice(h, 0, 8))),
                         signature_of(&a, cavs_tanh(cavs_slice(h, 8, 8))));
    assert_int_equal(signature_of(&a, cavs_slice(h, 3, 8)), CAVS__NOT_COMPUTED);
    close_scene(&a);
}

/* Thousands of them: a hash alone would have told them apart, too, but not surely. */
static void a_signature_is_found_again_among_thousands(void **unused)
{
    enum { SORTS = 3000 };
    struct cavs_symbol *h;
    struct scene a;
    int first[SORTS];

    (void)unused;
    open_scene(&a, 4 * SORTS);
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    cavs__next_sample(&a.r);
    h = cavs_lookup(a.E, id(&a, 1));
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < SORTS; i++) {
            int s = signature_of(&a, cavs_scale(h, (float)i));

            if (pass == 0)
                first[i] = s;
            assert_int_equal(s, first[i]);
        }
    }
    assert_int_equal(a.r.signatures.n, SORTS + 1);
    close_scene(&a);
}

/* ---- mistakes ---- */

static void a_stale_symbol_is_refused(void **unused)
{
    struct cavs_symbol *old, *now;
    struct scene a;

    (void)unused;
    open_scene(&a, 1000);
    for (int first = 0; first < 2; first++) {
        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        cavs__next_sample(&a.r);
        old = cavs_lookup(a.E, id(&a, 1));
        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        cavs__next_sample(&a.r);
        now = cavs_lookup(a.E, id(&a, 1));
        assert_null(first ? cavs_add(old, now) : cavs_add(now, old));
        check_refused(cavs__recording_error(&a.r), CAVS_ESTATE, "test_recording.c:", "add",
                      "an earlier recording");
    }
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN); /* and goes on */
    cavs__next_sample(&a.r);
    assert_non_null(cavs_lookup(a.E, id(&a, 1)));
    check_ok(cavs__recording_error(&a.r));
    close_scene(&a);
}

static void another_tapes_symbol_is_refused(void **unused)
{
    struct scene a, b;

    (void)unused;
    open_scene(&a, 1000);
    open_scene(&b, 1000);
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    cavs__recording_begin(&b.r, CAVS_TAPE_TRAIN);
    cavs__next_sample(&a.r);
    cavs__next_sample(&b.r);
    assert_null(cavs_add(cavs_lookup(a.E, id(&a, 1)), cavs_lookup(b.E, id(&b, 1))));
    check_refused(cavs__recording_error(&a.r), CAVS_ESTATE, "add", "another tape");
    close_scene(&a);
    close_scene(&b);
}

/* A mistake, and the line that it is made at. */
struct mistake {
    int code;
    const char *says[3];
};

static const struct mistake mistakes[] = {
    {CAVS_ESHAPE, {"matmul", "width 5", "U (32 x 32)"}},
    {CAVS_ESHAPE, {"add", "widths 32 and 5", "differ"}},
    {CAVS_EDATA, {"lookup", "id 9", "not below 9"}},
    {CAVS_EDATA, {"id -2", "not below 0", "tape"}},
    {CAVS_EPROGRAM, {"gather", "no vertices", "cavs_tape_row"}},
    {CAVS_ESHAPE, {"matmul_t", "width 5", "U (32 x 32)^T"}},
    {CAVS_ESHAPE, {"dot", "widths 32 and 5", "differ"}},
    {CAVS_EPROGRAM, {"pull", "no vertices", "cavs_tape_row"}},
};

#define WRONG(call) (line = __LINE__, (void)(call))

static int make_mistake(struct scene *a, int which)
{
    struct cavs_function *f = cavs__next_sample(&a->r);
    struct cavs_symbol *h = cavs_lookup(a->E, id(a, 1)), *z = cavs_matmul(h, a->V), *big = id(a, 9);
    int line = 0;

    switch (which) {
    case 0: WRONG(cavs_matmul(z, a->U)); break;
    case 1: WRONG(cavs_add(h, z)); break;
    case 2: WRONG(cavs_lookup(a->E, big)); break;
    case 3: WRONG(cavs__record_id(&a->r, -2, CAVS_HERE)); break;
    case 4: WRONG(cavs_gather(f, 0)); break;
    case 5: WRONG(cavs_matmul_t(z, a->U)); break;
    case 6: WRONG(cavs_dot(h, z)); break;
    default: WRONG(cavs_pull(f, "x", 4)); break;
    }
    return line;
}

static void what_does_not_fit_is_refused_with_its_line(void **unused)
{
    struct scene a;
    char line[40];

    (void)unused;
    open_scene(&a, 1000);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];

        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        snprintf(line, sizeof line, "test_recording.c:%d:", make_mistake(&a, (int)i));
        check_refused(cavs__recording_error(&a.r), m->code, line, m->says[0], m->says[1],
                      m->says[2]);
    }
    close_scene(&a);
}

static void nothing_is_recorded_outside_of_samples(void **unused)
{
    struct scene a;

    (void)unused;
    open_scene(&a, 1000);
    assert_null(cavs__next_sample(&a.r));
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    assert_null(id(&a, 1));
    check_refused(cavs__recording_error(&a.r), CAVS_ESTATE, "no sample", "cavs_tape_sample");
    close_scene(&a);
}

static void too_many_symbols_are_refused(void **unused)
{
    struct cavs_symbol *h;
    struct scene a;

    (void)unused;
    open_scene(&a, 10);
    for (int pass = 0; pass < 2; pass++) {
        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        cavs__next_sample(&a.r);
        h = cavs_lookup(a.E, id(&a, 1));
        for (int i = 0; i < 8; i++)
            h = cavs_tanh(h);
        check_ok(cavs__recording_error(&a.r));
        assert_null(cavs_tanh(h));
        check_refused(cavs__recording_error(&a.r), CAVS_EINVAL, "more than 10 symbols");
    }
    close_scene(&a);
}

static int sample_of(const struct scene *a, const struct cavs_symbol *x)
{
    return a->r.entries[x->number].sample;
}

/* Also where others have begun after it, or were gone on with since. */
static void the_sample_of_a_mark_is_gone_on_with(void **unused)
{
    struct scene a;
    int64_t mark;

    (void)unused;
    open_scene(&a, 1000);
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    for (int i = 0; i < 3; i++)
        cavs__next_sample(&a.r);
    cavs__resume_sample(&a.r, 1);
    assert_int_equal(sample_of(&a, cavs_lookup(a.E, id(&a, 1))), 1);
    mark = cavs__recording_mark(&a.r);
    cavs__resume_sample(&a.r, 0);
    cavs__next_sample(&a.r);
    assert_int_equal(sample_of(&a, cavs_lookup(a.E, id(&a, 1))), 3);
    check_ok(cavs__recording_rewind(&a.r, mark));
    assert_int_equal(a.r.nsamples, 3);
    assert_int_equal(sample_of(&a, cavs_lookup(a.E, id(&a, 2))), 1);
    close_scene(&a);
}

static void what_was_taken_back_is_refused(void **unused)
{
    struct cavs_symbol *h, *gone;
    struct cavs_function *f;
    struct scene a;
    int64_t mark;

    (void)unused;
    open_scene(&a, 1000);
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    f = cavs__next_sample(&a.r);
    h = cavs_lookup(a.E, id(&a, 1));
    mark = cavs__recording_mark(&a.r);
    gone = cavs_tanh(h);
    classify(&a, f, gone, 1);
    assert_int_equal(a.r.nsinks, 1);
    check_ok(cavs__recording_rewind(&a.r, mark));
    assert_int_equal(a.r.nsinks, 0);
    check_refused(cavs__recording_rewind(&a.r, mark + 1), CAVS_EINVAL, "no mark");
    assert_null(cavs_add(h, gone));
    check_refused(cavs__recording_error(&a.r), CAVS_ESTATE, "add", "taken back");
    close_scene(&a);
}

/* ---- large ones ---- */

/* What a step is made of; its lines are the same for all of them. */
struct step {
    struct cavs_symbol *x, *y, *label;
};

static void record_step(struct scene *a, struct cavs_function *f, const struct step *s)
{
    struct cavs_symbol *h = cavs_mul(cavs_tanh(s->x), s->y), *z = cavs_matmul(h, a->V);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(z, s->label), s->label);
}

static struct step good_step(struct scene *a, struct cavs_function *f)
{
    struct cavs_symbol *x = cavs_lookup(a->E, id(a, 1));

    return (struct step){x, cavs_use(f, a->b), id(a, 2)};
}

/* Steps enough that the next one is recorded as usual. */
static void record_steps(struct scene *a, struct cavs_function *f)
{
    for (int i = 0; i < 4; i++) {
        struct step s = good_step(a, f);

        record_step(a, f, &s);
    }
}

static void spoil_tanh(struct scene *a, struct cavs_function *f, struct step *s)
{
    (void)f;
    s->x = id(a, 1);
}

static void spoil_width(struct scene *a, struct cavs_function *f, struct step *s)
{
    (void)a;
    s->y = cavs_constant(f, HIDDEN / 2, 1);
}

static void spoil_product(struct scene *a, struct cavs_function *f, struct step *s)
{
    s->x = cavs_use(f, a->c);
    s->y = cavs_constant(f, CLASSES, 1);
}

static void spoil_label(struct scene *a, struct cavs_function *f, struct step *s)
{
    (void)f;
    s->label = id(a, CLASSES);
}

static void spoil_ids(struct scene *a, struct cavs_function *f, struct step *s)
{
    (void)a;
    s->label = cavs_constant(f, 1, 0);
}

static void take_back(struct scene *a, struct cavs_function *f, struct step *s)
{
    int64_t mark = cavs__recording_mark(&a->r);

    for (int i = 0; i < 100; i++)
        s->x = cavs_lookup(a->E, id(a, 3));
    check_ok(cavs__recording_rewind(&a->r, mark));
    record_steps(a, f);
    s->label = id(a, 2);
}

/* That a line has been recorded often, and the operators of a run are expected there, makes no
 * mistake pass. */
static void mistakes_are_refused_where_the_same_line_was_recorded_before(void **unused)
{
    static const struct {
        void (*spoil)(struct scene *a, struct cavs_function *f, struct step *s);
        int code;
        const char *says[2];
    } mistakes[] = {
        {spoil_tanh, CAVS_EPROGRAM, {"tanh", "id input"}},
        {spoil_width, CAVS_ESHAPE, {"mul", "widths 32 and 16"}},
        {spoil_product, CAVS_ESHAPE, {"matmul", "width 5"}},
        {spoil_label, CAVS_EDATA, {"softmax_cross_entropy", "id 5 is not below 5"}},
        {spoil_ids, CAVS_EPROGRAM, {"softmax_cross_entropy", "where ids are wanted"}},
        {take_back, CAVS_ESTATE, {"tanh", "taken back"}},
    };
    struct scene a;

    (void)unused;
    open_scene(&a, 1000);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct cavs_function *f;
        struct step s;

        cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
        f = cavs__next_sample(&a.r);
        record_steps(&a, f);
        s = good_step(&a, f);
        mistakes[i].spoil(&a, f, &s);
        check_ok(cavs__recording_error(&a.r));
        record_step(&a, f, &s);
        check_refused(cavs__recording_error(&a.r), mistakes[i].code,
                      "test_recording.c:", mistakes[i].says[0], mistakes[i].says[1]);
    }
    close_scene(&a);
}

static void a_deep_chain_takes_no_stack(void **unused)
{
    enum { DEEP = 200000 };
    struct cavs_function *f;
    struct cavs_symbol *h;
    struct scene a;

    (void)unused;
    open_scene(&a, 4 * DEEP);
    cavs__recording_begin(&a.r, CAVS_TAPE_TRAIN);
    f = cavs__next_sample(&a.r);
    h = cavs_lookup(a.E, id(&a, 1));
    for (int i = 0; i < DEEP; i++)
        h = cavs_tanh(h);
    classify(&a, f, h, 1);
    assert_int_equal(count(&a, CAVS_POLICY_DEPTH, 1), 1 + DEEP + 4);
    close_scene(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_counts_are_those_of_a_pencil),
        cmocka_unit_test(the_agenda_waits_for_what_lies_deeper),
        cmocka_unit_test(samples_that_read_one_another_have_one_shard),
        cmocka_unit_test(what_differs_has_another_signature),
        cmocka_unit_test(a_signature_is_found_again_among_thousands),
        cmocka_unit_test(a_stale_symbol_is_refused),
        cmocka_unit_test(another_tapes_symbol_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_line),
        cmocka_unit_test(nothing_is_recorded_outside_of_samples),
        cmocka_unit_test(too_many_symbols_are_refused),
        cmocka_unit_test(the_sample_of_a_mark_is_gone_on_with),
        cmocka_unit_test(what_was_taken_back_is_refused),
        cmocka_unit_test(mistakes_are_refused_where_the_same_line_was_recorded_before),
        cmocka_unit_test(a_deep_chain_takes_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
