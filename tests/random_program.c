/* SPDX-License-Identifier: Apache-2.0 */
/* random_program.c - see random_program.h: steps, bodies, and what all programs of a seed share. */
#include "tests/random_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "tests/random.h"
#include "tests/trial.h"

enum { WIDTHS = 4, PARAMS = 26, WORDS = 5, BLOCKS = 3 };

/* ---- steps ---- */

/* Has one of these columns of a value a gradient?  Of values side by side, each has its own. */
static bool are_trained(const struct program *p, int value, int from, int width)
{
    const struct program_step *s = &p->steps[value];

    if (s->op == PROGRAM_SLICE)
        return are_trained(p, program_operands(p, s)[0], s->k + from, width);
    if (s->op != PROGRAM_CONCAT)
        return s->trained;
    for (int i = 0; i < s->n; i++) {
        int x = program_operands(p, s)[i], wide = p->steps[x].width;
        int first = from > 0 ? from : 0, end = from + width < wide ? from + width : wide;

        if (first < end && are_trained(p, x, first, end - first))
            return true;
        from -= wide;
    }
    return false;
}

/* Has the value of a step a gradient of its own?  What a function gives may be read inside of it,
 * too. */
static bool is_trained(const struct program_draw *c, const struct program_step *s,
                       const int *operands)
{
    bool trained = (s->param && !s->param->frozen) || (s->bias && !s->bias->frozen) ||
                   (s->op == PROGRAM_ROW && c->p->run == CAVS_TAPE_GRADIENT);

    for (int i = 0; i < s->n; i++)
        trained |= c->p->steps[operands[i]].trained;
    if (s->op == PROGRAM_SLICE)
        return are_trained(c->p, operands[0], s->k, s->width);
    if (s->op == PROGRAM_ELEMENTWISE && !cavs__ew_passes(s->k))
        return false;
    return trained && s->op != PROGRAM_CORRECT && s->op != PROGRAM_APPLY;
}

int program_add(struct program_draw *c, struct program_step s, int n, const int *operands)
{
    struct program *p = c->p;

    s.first = p->noperands;
    s.n = n;
    s.trained = is_trained(c, &s, operands);
    for (int i = 0; i < n; i++)
        assert_true(CAVS__APPEND(p->operands, p->noperands, operands[i]));
    assert_true(CAVS__APPEND(p->steps, p->nsteps, s));
    if (c->live && getenv("CAVS_TEST_EXPLAIN"))
        program_print_step(p, p->nsteps - 1);
    if (c->live)
        program_play(c->live, p->nsteps - 1);
    return p->nsteps - 1;
}

void program_free(struct program *p)
{
    free(p->steps);
    free(p->operands);
    *p = (struct program){0};
}

/* ---- bodies ---- */

/* What is another one with each call: ids and numbers of rows. */
static void draw_anew(struct program_draw *c, struct program_step *s)
{
    if (s->op == PROGRAM_ID)
        s->k = draw_pick(&c->family->d, 8) ? draw_pick(&c->family->d, s->which) : -1;
    else if (s->op == PROGRAM_ROW)
        s->seed = random_next(&c->family->d.seed);
}

int program_call(struct program_draw *c, int body, const int *actual)
{
    const struct program *b = &c->family->body[body];
    int *to = calloc((size_t)b->nsteps + 1, sizeof *to), *in, result;

    in = calloc((size_t)b->noperands + 1, sizeof *in);
    assert_true(to && in);
    for (int i = 0; i < b->nsteps; i++) {
        struct program_step s = b->steps[i];

        for (int k = 0; k < s.n; k++)
            in[k] = to[program_operands(b, &s)[k]];
        draw_anew(c, &s);
        to[i] = s.op == PROGRAM_FORMAL ? actual[i] : program_add(c, s, s.n, in);
    }
    result = to[b->nsteps - 1];
    free(to);
    free(in);
    return result;
}

/* Ids and rows are given to it, in their order. */
int program_apply(struct program_draw *c, int body, const int *actual)
{
    const struct program *b = &c->family->body[body];
    int in[PROGRAM_FORMALS + PROGRAM_SOURCES], n = 0;

    for (int i = 0; i < b->nsteps; i++) {
        struct program_step s = b->steps[i];

        draw_anew(c, &s);
        if (s.op == PROGRAM_FORMAL)
            in[n++] = actual[i];
        else if (s.op == PROGRAM_ID || s.op == PROGRAM_ROW)
            in[n++] = program_add(c, s, 0, NULL);
    }
    return program_add(c,
                       (struct program_step){.op = PROGRAM_APPLY,
                                             .line = b->steps[0].line,
                                             .width = c->family->width,
                                             .k = body,
                                             .most = 1},
                       n, in);
}

static void draw_body(struct program_family *a, int number)
{
    struct program_draw c = {.family = a,
                             .p = &a->body[number],
                             .drops = number == 0 && draw_pick(&a->d, 2),
                             .line = 1000 * (number + 1)};
    int n = 1 + draw_pick(&a->d, 9);

    a->nformals[number] = 1 + draw_pick(&a->d, PROGRAM_FORMALS);
    for (int i = 0; i < a->nformals[number]; i++)
        c.pool[c.npool++] = program_add(
            &c, (struct program_step){.op = PROGRAM_FORMAL, .width = a->width, .most = 2}, 0, NULL);
    for (int i = draw_pick(&a->d, 3); i > 0; i--)
        program_draw_source(&c);
    for (int i = 0; i < n; i++)
        program_draw_operator(&c);
    if (draw_pick(&a->d, 3) == 0)
        program_draw_losses(&c);
    program_draw_of_width(&c, a->width);
}

/* Declares the function that the body is, unless it has too many sources; or drops something: the
 * numbers by which a function that is applied drops are nobody's business. */
static void declare(struct program_family *a, int body)
{
    const struct program *b = &a->body[body];
    struct program_player player = {.family = a, .m = a->m};
    char name[16];
    int sources = 0;
    bool drops = false;

    for (int i = 0; i < b->nsteps; i++) {
        sources += b->steps[i].op == PROGRAM_ID || b->steps[i].op == PROGRAM_ROW;
        drops |= b->steps[i].op == PROGRAM_DROPOUT;
    }
    if (drops || sources > PROGRAM_SOURCES)
        return;
    snprintf(name, sizeof name, "body%d", body);
    a->function[body] = player.f =
        cavs_function_create(cavs_stage_create(a->m, name, a->width), "f");
    program_play_all(&player, b);
    cavs_scatter(player.f, player.values[b->nsteps - 1].x);
    program_player_close(&player);
}

/* ---- parameters ---- */

static void draw_param(struct program_family *a, int number, const int *widths)
{
    static const char *const sorts[] = {"weight", "weight", "weight", "table", "bias", "stacked"};
    const char *sort = sorts[draw_pick(&a->d, 6)];
    int width = widths[draw_pick(&a->d, WIDTHS)], rows = widths[draw_pick(&a->d, WIDTHS)];
    struct cavs_param *p;
    char name[16];
    float most;

    rows *= *sort == 's' ? BLOCKS : 1;
    rows = *sort == 't' ? WORDS : *sort == 'b' ? 1 : rows;
    most = rows <= 5 || *sort == 't' ? 0.6f : 1.3f / sqrtf((float)rows);
    snprintf(name, sizeof name, "%s%d", sort, number);
    p = cavs_model_param(a->m, name, rows, width, CAVS_UNIFORM(-most, most));
    if (draw_pick(&a->d, 8) == 0)
        cavs_param_freeze(p);
}

void program_family_open(struct program_family *a, uint64_t seed)
{
    int widths[WIDTHS];

    *a = (struct program_family){.d.seed = seed};
    check_ok(cavs_model_create(&a->m));
    a->d.widest = draw_pick(&a->d, 6) ? 6 : 20 + draw_pick(&a->d, 30);
    for (int i = 0; i < WIDTHS; i++)
        widths[i] = 1 + draw_pick(&a->d, a->d.widest);
    a->width = widths[0];
    for (int i = 0; i < PARAMS; i++)
        draw_param(a, i, widths);
    for (int i = 0; i < PROGRAM_BODIES; i++)
        draw_body(a, i);
    program_draw_stages(a);
    for (int i = 0; i < PROGRAM_BODIES; i++)
        declare(a, i);
    check_ok(cavs_model_finish(a->m));
    program_open_samples(a);
}

void program_family_close(struct program_family *a)
{
    for (int i = 0; i < PROGRAM_BODIES; i++)
        program_free(&a->body[i]);
    trial_close(&a->trial);
}
