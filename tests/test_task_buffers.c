/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_task_buffers.c - a task takes as many handles as are added to it, and a tape's as many
 * buffers with their numbers, or memory is short, and whoever submits it is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/tape/tape_tasks.h"
#include "tests/failing_alloc.h"

enum { MOST = 1000, TRIED = 200 };

/* Nobody looks at these handles. */
static starpu_data_handle_t handle_at(int i)
{
    return (starpu_data_handle_t)(uintptr_t)(64 * (i + 1));
}

static enum starpu_data_access_mode mode_at(int i)
{
    return i % 3 == 0 ? STARPU_RW : STARPU_R;
}

static struct starpu_task *with_handles(int n)
{
    static struct starpu_codelet codelet = {.nbuffers = STARPU_VARIABLE_NBUFFERS};
    struct starpu_task *t = starpu_task_create();

    t->cl = &codelet;
    for (int i = 0; i < n; i++)
        cavs__task_buffer(t, handle_at(i), mode_at(i));
    return t;
}

static void takes_any_number_of_handles(void **state)
{
    (void)state;
    for (int n = 0; n < MOST; n = n < 2 * STARPU_NMAXBUFS ? n + 1 : n + 61) {
        struct starpu_task *t = with_handles(n);

        assert_int_equal(cavs__task_complete(t), CAVS_OK);
        assert_int_equal(t->nbuffers, n);
        for (int i = 0; i < n; i++) {
            assert_ptr_equal(STARPU_TASK_GET_HANDLE(t, i), handle_at(i));
            assert_int_equal(STARPU_TASK_GET_MODE(t, i), mode_at(i));
        }
        cavs__task_drop(t);
    }
}

/* Gives the task to one of the ways in which tasks are submitted, which is to refuse it. */
static int submit(struct starpu_task *t, int way)
{
    struct cavs__engine e = {0};

    e.here.now = way == 2;
    return way == 0 ? cavs__task_start(&e, 0, t) : cavs__task_submit(&e, 0, t, 1);
}

static void is_refused_without_memory_for_its_handles(void **state)
{
    long failures = 1;
    char left[200] = "";

    (void)state;
    for (int n = 1; failures > 0; n++) {
        struct starpu_task *t;

        assert_true(n < TRIED);
        failing_alloc_begin(n, false);
        t = with_handles(MOST);
        failures = failing_alloc_failures();
        assert_int_equal(cavs__task_complete(t), failures > 0 ? CAVS_ENOMEM : CAVS_OK);
        if (failures > 0)
            assert_int_equal(submit(t, n % 3), CAVS_ENOMEM);
        else
            cavs__task_drop(t);
        failing_alloc_end();
        if (failing_alloc_left(left, sizeof left) > 0)
            fail_msg("%s is left when allocation %d fails", left, n);
    }
}

/* ---- of a tape ---- */

/* What a tape's task is put together from: tensors of one chunk. */
struct scene {
    struct cavs__tensor_desc descs[MOST];
    struct cavs__tensor tensors[MOST];
    struct cavs__chunk chunks[MOST];
    struct cavs__plan plan;
    struct cavs__engine e;
    struct cavs__part_args a;
    struct cavs__sending w;
    struct cavs__new_task k;
};

/* They come in another order than they are numbered. */
static int number_at(int i)
{
    return i ^ 1;
}

/* A task with n of them. */
static void open_scene(struct scene *s, int n)
{
    *s = (struct scene){.plan.tensors = s->descs,
                        .e = {.plan = &s->plan, .tensors = s->tensors},
                        .w.e = &s->e,
                        .k = {.task = with_handles(0), .a = &s->a}};
    for (int i = 0; i < MOST; i++) {
        s->descs[i].kind = CAVS__T_PARAM;
        s->chunks[i].handle = handle_at(i);
        s->tensors[i].chunks = &s->chunks[i];
    }
    for (int i = 0; i < n; i++) {
        void *behind;

        cavs__add_chunk(&s->w, &s->k, number_at(i), mode_at(i) == STARPU_RW);
        behind = cavs__sending_take(&s->w, sizeof(int16_t));
        if (behind) /* somebody else's memory */
            memset(behind, -1, sizeof(int16_t));
    }
}

static void of_a_tape_has_a_number_for_each_of_any_number_of_buffers(void **state)
{
    static struct scene s;

    (void)state;
    for (int n = 2; n < MOST; n = n < 2 * STARPU_NMAXBUFS ? n + 2 : n + 62) {
        open_scene(&s, n);
        assert_int_equal(cavs__task_complete(s.k.task), CAVS_OK);
        assert_int_equal(s.k.task->nbuffers, n);
        assert_int_equal(s.a.nbuffers, n);
        assert_int_equal(s.a.most, n - 1);
        for (int i = 0; i < n; i++) {
            assert_int_equal(s.a.numbers[i], number_at(i));
            assert_ptr_equal(STARPU_TASK_GET_HANDLE(s.k.task, i), handle_at(number_at(i)));
            assert_int_equal(STARPU_TASK_GET_MODE(s.k.task, i), mode_at(i));
        }
        cavs__task_drop(s.k.task);
        cavs__arena_free(&s.e.slots[0].arena);
    }
}

static void of_a_tape_is_refused_without_memory_for_its_buffers(void **state)
{
    static struct scene s;
    long failures = 1;
    char left[200] = "";

    (void)state;
    for (int n = 1; failures > 0; n++) {
        assert_true(n < TRIED);
        failing_alloc_begin(n, false);
        open_scene(&s, MOST);
        failures = failing_alloc_failures();
        if (failures > 0)
            assert_int_equal(cavs__close_task(&s.w, &s.k, 0), CAVS_ENOMEM);
        else
            cavs__task_drop(s.k.task);
        cavs__arena_free(&s.e.slots[0].arena);
        failing_alloc_end();
        if (failing_alloc_left(left, sizeof left) > 0)
            fail_msg("%s is left when allocation %d fails", left, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_any_number_of_handles),
        cmocka_unit_test(is_refused_without_memory_for_its_handles),
        cmocka_unit_test(of_a_tape_has_a_number_for_each_of_any_number_of_buffers),
        cmocka_unit_test(of_a_tape_is_refused_without_memory_for_its_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
