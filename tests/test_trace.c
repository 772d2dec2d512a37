/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace.c - the summary of a trace, on a small one made by hand (tests/data/mini-trace): eight
 * tasks on two workers, times in whole milliseconds, so that every number below can be checked with
 * a pencil.
 *
 *     ms        1   2   3   4   5   6   7   8   9   10  11  12  13  14  15
 *     CPU 0     eager...chain.......    chain...    gradient..update (12.5)
 *     CPU 1     eager...........                back                lazy
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/common/tool.h"
#include "apps/trace/trace.h"

static struct app_error why; /* the latest refusal */

/* ---- helpers --------------------------------------------------------------------------------- */

static const char *data_path(const char *name)
{
    static char path[2][4096];
    static int turn;
    const char *top = getenv("abs_top_srcdir");

    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/tests/data/mini-trace/%s", top ? top : ".", name);
    return path[turn];
}

static struct trace read_mini(void)
{
    struct trace t;

    if (trace_read(data_path("tasks.rec"), data_path("activity.data"), &t, &why) != CAVS_OK)
        fail_msg("refused: %s", why.text);
    return t;
}

static int read_text(const char *text, struct trace *out)
{
    char path[] = "/tmp/cavs-trace-XXXXXX";
    int fd = mkstemp(path), rc;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    rc = trace_read(path, "/nonexistent", out, &why);
    unlink(path);
    return rc;
}

static void is(const char *what, double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9))
        fail_msg("%s is %.9g, not %.9g", what, value, wanted);
}

static int find(const struct trace *t, long job)
{
    for (int i = 0; i < t->ntasks; i++) {
        if (t->tasks[i].job == job)
            return i;
    }
    fail_msg("no job %ld", job);
    return -1;
}

static bool depends(const struct trace *t, long job, long on)
{
    const struct trace_task *x = &t->tasks[find(t, job)];

    for (int d = 0; d < x->ndeps; d++) {
        if (t->deps[x->dep0 + d] == find(t, on))
            return true;
    }
    return false;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void test_phases(void **state)
{
    static const struct {
        const char *codelet;
        struct cavs__work kind;
    } cases[] = {
        {"tree.leaf.forward.eager", {CAVS__WORK_EAGER, false}},
        {"tree.inner.backward.eager", {CAVS__WORK_EAGER, true}},
        {"tree.forward.chain", {CAVS__WORK_CHAIN, false}},
        {"tree.backward.chain", {CAVS__WORK_CHAIN, true}},
        {"head.out.forward.lazy", {CAVS__WORK_LAZY, false}},
        {"cavs_joined", {CAVS__WORK_JOINED, false}},
        {"tree.inner.gradient.U.eager", {CAVS__WORK_GRADIENT, false}},
        {"cavs_update", {CAVS__WORK_UPDATE, false}},
        {"cavs_norm", {CAVS__WORK_UPDATE, false}},
        {"cavs_peak", {CAVS__WORK_OTHER, false}},
        {"", {CAVS__WORK_OTHER, false}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cavs__work kind = cavs__work_of(cases[i].codelet);

        if (kind.phase != cases[i].kind.phase || kind.backward != cases[i].kind.backward)
            fail_msg("%s is taken for %s", cases[i].codelet, cavs__work_phase_name(kind.phase));
    }
}

/* ---- the reader ------------------------------------------------------------------------------ */

static void test_records(void **state)
{
    struct trace t = read_mini();
    const struct trace_task *x = &t.tasks[find(&t, 12)];

    (void)state;
    assert_int_equal(t.ntasks, 11);
    assert_int_equal(t.nworkers, 2);
    assert_string_equal(t.workers[0], "CPU 0");
    assert_string_equal(t.workers[1], "CPU 1");
    assert_string_equal(t.codelets[x->codelet].name, "tree.forward.chain");
    assert_int_equal(x->worker, 0);
    assert_int_equal(x->batch, 0);
    assert_true(x->counted);
    is("submit", x->submit, 1);
    is("start", x->start, 3);
    is("end", x->end, 6);
    assert_int_equal(t.tasks[find(&t, 13)].worker, -1);
    assert_false(t.tasks[find(&t, 13)].counted);
    assert_false(t.tasks[find(&t, 19)].counted); /* outside of batches */
    trace_free(&t);
}

static void test_dependencies(void **state)
{
    struct trace t = read_mini();

    (void)state;
    assert_true(depends(&t, 10, 3));
    assert_true(depends(&t, 14, 13));
    assert_true(depends(&t, 12, 10)); /* reads what 10 wrote; not recorded by StarPU */
    assert_false(depends(&t, 12, 11));
    assert_int_equal(t.tasks[find(&t, 14)].ndeps, 1); /* job 999 is not in the trace */
    trace_free(&t);
}

/* Data d: written by 1, read by 2 and 3, overwritten by 4, updated by 5; 6 uses it as scratch. */
static void test_data_dependencies(void **state)
{
    static const char *const modes[] = {"W", "R", "R", "W", "RW", "S"};
    static const long wanted[][2] = {{2, 1}, {3, 1}, {4, 2}, {4, 3}, {5, 4}};
    char text[4096] = "";
    struct trace t;
    int n = 0;

    (void)state;
    for (int i = 0; i < 6; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "Name: t\nJobId: %d\nSubmitOrder: %d\nWorkerId: 0\nSubmitTime: 0\nStartTime: "
                      "%d\nEndTime: %d\n"
                      "Handles: d\nModes: %s\n\n",
                      i + 1, i, 10 - i, 11 - i, modes[i]);
    assert_int_equal(read_text(text, &t), CAVS_OK);
    assert_int_equal(t.ndeps, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(depends(&t, wanted[i][0], wanted[i][1]));
    trace_free(&t);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"JobId: 1\n\n", ":1: expected a record to begin with Name, not 'JobId'"},
        {"Name: a\nnonsense\n", ":2: expected 'Key: value', not 'nonsense'"},
        {"Name: a\nJobId: x\n", ":2: expected a whole number, not 'x'"},
        {"Name: a\nJobId: 1\nStartTime: soon\n", ":3: expected a time, not 'soon'"},
        {"Name: a\nStartTime: nan\n", ":2: expected a time, not 'nan'"},
        {"Name: a\nDependsOn: 1 b\n", ":2: expected numbers of jobs, not 'b'"},
        {"Name: a\nHandles: x\n", ":2: expected handles, not 'x'"},
        {"Name: a\n\n", ":2: no JobId in the record of 'a'"},
        {"Name: a\nJobId: 1\nWorkerId: 99999999\n\n", ":4: no worker of that number: 'a'"},
        {"Name: a\nJobId: 1\nStartTime: 2\nEndTime: 1\n\n", ":5: ends before it starts: 'a'"},
    };
    struct trace t;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = read_text(cases[i].text, &t);

        if (rc != CAVS_EFORMAT || !strstr(why.text, cases[i].message))
            fail_msg("'%s' gives %d, %s", cases[i].text, rc, why.text);
    }
    assert_int_equal(trace_read("/nonexistent", "/nonexistent", &t, &why), CAVS_EIO);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void check_totals(const struct trace_stats *s)
{
    assert_int_equal(s->workers, 2);
    assert_int_equal(s->all.count, 8);
    is("all work", s->all.ms, 15.5);
    is("begin", s->begin, 1);
    is("end", s->end, 15);
    is("CPU 0", s->worker[0].ms, 9.5);
    is("CPU 1", s->worker[1].ms, 6);
    is("CPU 0 idle %", 100 - trace_percent(s->worker[0].ms, s->end - s->begin), 100 * 4.5 / 14);
    assert_int_equal(s->kind[CAVS__WORK_EAGER][0].count, 2);
    is("eager", s->kind[CAVS__WORK_EAGER][0].ms, 6);
    is("chain forward", s->kind[CAVS__WORK_CHAIN][0].ms, 5);
    is("chain backward", s->kind[CAVS__WORK_CHAIN][1].ms, 1);
    is("lazy backward", s->kind[CAVS__WORK_LAZY][1].ms, 1);
    is("gradient", s->kind[CAVS__WORK_GRADIENT][0].ms, 2);
    is("update", s->kind[CAVS__WORK_UPDATE][0].ms, 0.5);
    is("other", s->kind[CAVS__WORK_OTHER][0].ms, 0);
}

static void test_totals(void **state)
{
    struct trace t = read_mini();
    struct trace_stats s;
    int order[16];

    (void)state;
    assert_int_equal(trace_stats_make(&t, &s), CAVS_OK);
    check_totals(&s);
    assert_int_equal(s.nbatches, 2);
    assert_int_equal(s.batch[0].count, 7);
    assert_int_equal(s.batch[1].count, 1);
    is("end of batch 0", s.batch[0].end, 13);
    assert_int_equal(trace_by_time(&t, &s, order), 6);
    assert_string_equal(t.codelets[order[0]].name, "tree.leaf.forward.eager");
    assert_string_equal(t.codelets[order[5]].name, "cavs_update");
    trace_stats_free(&s);
    trace_free(&t);
}

static void test_overlap(void **state)
{
    struct trace t = read_mini();
    struct trace_stats s;

    (void)state;
    assert_int_equal(trace_stats_make(&t, &s), CAVS_OK);
    is("eager running", trace_both(&s, CAVS__WORK_EAGER, CAVS__WORK_EAGER), 4);
    is("chain running", trace_both(&s, CAVS__WORK_CHAIN, CAVS__WORK_CHAIN), 6);
    is("both", trace_both(&s, CAVS__WORK_EAGER, CAVS__WORK_CHAIN), 2);
    is("nothing", s.together[0], 1 + 0.5 + 1);
    is("idle: runtime", s.idle[TRACE_RUNTIME], 1.5);
    is("idle: waiting", s.idle[TRACE_WAITING], 7);
    is("idle: starving", s.idle[TRACE_STARVING], 4);
    trace_stats_free(&s);
    trace_free(&t);
}

/* 10 -> 12 -> (13) -> 14 -> 15 -> 16 -> 17 */
static void test_longest_path(void **state)
{
    struct trace t = read_mini();
    struct trace_stats s;

    (void)state;
    assert_int_equal(trace_stats_make(&t, &s), CAVS_OK);
    assert_int_equal(s.path.count, 6);
    is("path", s.path.ms, 10.5);
    is("eager on it", s.path_kind[CAVS__WORK_EAGER][0], 2);
    is("chain on it", s.path_kind[CAVS__WORK_CHAIN][0], 5);
    is("update on it", s.path_kind[CAVS__WORK_UPDATE][0], 0.5);
    trace_stats_free(&s);
    trace_free(&t);
}

/* No true trace has one, but it must not hang or crash. */
static void test_cycle(void **state)
{
    struct trace t;
    struct trace_stats s;

    (void)state;
    assert_int_equal(read_text("Name: a\nJobId: 1\nDependsOn: 2\nWorkerId: 0\nSubmitTime: "
                               "0\nStartTime: 1\nEndTime: 2\n\n"
                               "Name: b\nJobId: 2\nDependsOn: 1 2\nWorkerId: 3\nSubmitTime: "
                               "0\nStartTime: 2\nEndTime: 4\n",
                               &t),
                     CAVS_OK);
    assert_string_equal(t.workers[3], "worker 3");
    assert_int_equal(trace_stats_make(&t, &s), CAVS_OK);
    assert_int_equal(s.workers, 2);
    is("work", s.all.ms, 3);
    trace_stats_free(&s);
    trace_free(&t);
}

/* ---- several ranks --------------------------------------------------------------------------- */

/* The clock of rank 1 is 100 ms ahead.  On that of rank 0:
 *
 *     ms        1   2   3   4   5   6   7   8   9   10
 *     rank 0    work....        work....
 *     rank 1    work............        work....
 *     messages          to 1............        to 0 (no task waits for it)
 *                               to 0....
 */
static const char two_ranks[] =
    "Name: a\nJobId: 0_1\nSubmitOrder: 1\nWorkerId: 0\nSubmitTime: 1\nStartTime: 1\nEndTime: 3\n"
    "Handles: 10\nModes: W\nMPIRank: 0\n\n"
    "Name: a\nJobId: 0_2\nSubmitOrder: 2\nDependsOn: 0_1\nWorkerId: 0\nSubmitTime: 1\nStartTime: "
    "5\n"
    "EndTime: 7\nMPIRank: 0\n\n"
    "Name: a\nJobId: 1_1\nSubmitOrder: 1\nWorkerId: 0\nSubmitTime: 101\nStartTime: 101\n"
    "EndTime: 105\nHandles: 10\nModes: W\nMPIRank: 1\n\n"
    "Name: b\nJobId: 1_2\nSubmitOrder: 2\nWorkerId: 0\nSubmitTime: 101\nStartTime: 107\n"
    "EndTime: 109\nHandles: 10\nModes: R\nMPIRank: 1\n\n";

static const char messages[] =
    "Src: 0\nDst: 1\nTag: 4\nSendTime: 3\nRecvTime: 107\nSize: 1000\nPriority: 0\n\n"
    "Src: 0\nDst: 1\nSendTime: 5\nRecvTime: 107\nSize: 24\n\n"
    "Src: 1\nDst: 0\nSendTime: 105\nRecvTime: 7\nSize: 500\n\n"
    "Src: 0\nDst: 0\nSendTime: 1\nRecvTime: 9\nSize: 4\n\n";

static void read_ranks(struct trace *t)
{
    char path[] = "/tmp/cavs-trace-XXXXXX";
    int fd = mkstemp(path);

    assert_int_equal(read_text(two_ranks, t), CAVS_OK);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, messages, strlen(messages)), strlen(messages));
    close(fd);
    assert_int_equal(trace_read_messages(path, t, &why), CAVS_OK);
    unlink(path);
}

static void test_ranks(void **state)
{
    struct trace t;
    struct trace_stats s;
    int of_rank_1;

    (void)state;
    read_ranks(&t);
    assert_int_equal(t.nranks, 2);
    assert_int_equal(t.nmessages, 3); /* what a rank sends itself is none */
    assert_string_equal(t.workers[0], "rank 0, worker 0");
    assert_string_equal(t.workers[TRACE_RANK_WORKERS], "rank 1, worker 0");
    of_rank_1 = find(&t, (1L << 48) + 2);
    is("start of rank 1's second task", t.tasks[of_rank_1].start, 7);
    assert_int_equal(t.tasks[of_rank_1].ndeps, 1); /* the same handle of rank 0 is another one */
    assert_int_equal(t.deps[t.tasks[of_rank_1].dep0], find(&t, (1L << 48) + 1));
    assert_int_equal(trace_stats_make(&t, &s), CAVS_OK);
    is("the run", s.end - s.begin, 8);
    assert_int_equal(s.rank[1].messages, 2);
    is("bytes to rank 1", s.rank[1].bytes, 1024);
    is("under way to rank 1", s.rank[1].under_way, 4); /* 3 to 7, two of them at once */
    is("not hidden from rank 1", s.rank[1].exposed, 2);
    is("under way to rank 0", s.rank[0].under_way, 2);
    is("not hidden from rank 0", s.rank[0].exposed, 0);
    trace_stats_free(&s);
    trace_free(&t);
}

/* ---- output ---------------------------------------------------------------------------------- */

static char *output(const struct trace *t, bool svg)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct trace_stats s;

    assert_non_null(out);
    assert_int_equal(trace_stats_make(t, &s), CAVS_OK);
    if (svg)
        assert_int_equal(trace_svg(out, t, &s), CAVS_OK);
    else
        trace_text(out, t, &s);
    fclose(out);
    trace_stats_free(&s);
    return text;
}

static int count(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* Every element is closed in the right order; text has no stray < or &. */
static void check_xml(const char *p)
{
    const char *open[64];
    int depth = 0;

    for (; (p = strchr(p, '<')); p++) {
        size_t length = strcspn(p + 1, " >/\n");
        const char *end = strchr(p, '>');

        assert_non_null(end);
        if (p[1] == '/') {
            assert_true(depth > 0);
            length = strcspn(p + 2, " >");
            assert_memory_equal(open[--depth], p + 2, length);
        } else if (end[-1] != '/') {
            assert_true(depth < 64);
            assert_true(length > 0);
            open[depth++] = p + 1;
        }
        p = end;
    }
    assert_int_equal(depth, 0);
}

static void test_text_of_one(void **state)
{
    struct trace t;
    char *text;

    (void)state;
    assert_int_equal(read_text("Name: a\nJobId: 1\nWorkerId: 0\nSubmitTime: 0\nStartTime: 1\n"
                               "EndTime: 2\n",
                               &t),
                     CAVS_OK);
    text = output(&t, false);
    assert_int_equal(strncmp(text, "1 task on 1 worker in ", 22), 0);
    free(text);
    trace_free(&t);
}

static void test_text(void **state)
{
    struct trace t = read_mini();
    char *text = output(&t, false);

    (void)state;
    assert_non_null(strstr(
        text, "8 tasks on 2 workers in 14.000 ms: 55.4 % of the time at work, 44.6 % idle\n"));
    assert_non_null(
        strstr(text, "  CPU 0                                       5      9.500     32.1\n"));
    assert_non_null(
        strstr(text, "  eager                                   4.000      2.000     50.0\n"));
    assert_non_null(
        strstr(text, "  longest path                           10.500 ms   (75.0 % of the run;"));
    assert_non_null(strstr(
        text,
        "  tree.leaf.forward.eager                     2      6.000     38.7      3000.00\n"));
    free(text);
    trace_free(&t);
}

static void test_svg(void **state)
{
    struct trace t = read_mini();
    char *svg = output(&t, true);

    (void)state;
    check_xml(svg);
    assert_int_equal(count(svg, "<title>"), 8); /* one rectangle a task */
    assert_int_equal(count(svg, ">CPU 1: "), 1);
    assert_non_null(strstr(svg, "<title>tree.forward.chain, 3000.0 us, batch 0</title>"));
    free(svg);
    trace_free(&t);
}

/* Thousands of tasks a pixel become columns; names are no markup. */
static void test_svg_of_many(void **state)
{
    enum { TASKS = 40000 };
    char *text = malloc(TASKS * 120), *p = text, *svg;
    struct trace t;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < TASKS; i++)
        p += sprintf(p,
                     "Name: %s\nJobId: %d\nWorkerId: %d\nSubmitTime: 0\nStartTime: %d\nEndTime: "
                     "%d.5\nIteration: %d\n\n",
                     i % 4 < 2 ? "a.forward.chain" : "<&\">", i, i % 4, i, i, i / 1000);
    assert_int_equal(read_text(text, &t), CAVS_OK);
    svg = output(&t, true);
    check_xml(svg);
    assert_int_equal(count(svg, "&#60;&#38;&#34;&#62;") > 0, 1);
    assert_true(strlen(svg) < 200000);
    free(svg);
    free(text);
    trace_free(&t);
}

static void test_nothing(void **state)
{
    struct trace t;
    char *text;

    (void)state;
    assert_int_equal(read_text("", &t), CAVS_OK);
    text = output(&t, false);
    assert_non_null(strstr(text, "No task ran."));
    free(text);
    text = output(&t, true);
    check_xml(text);
    assert_non_null(strstr(text, "No task ran."));
    free(text);
    trace_free(&t);
}

static void test_text_of_ranks(void **state)
{
    struct trace t;
    char *text;

    (void)state;
    read_ranks(&t);
    text = output(&t, false);
    assert_non_null(strstr(text, "4 tasks on 2 workers of 2 ranks in 8.000 ms"));
    assert_non_null(strstr(text, "  to rank 1                                   2      0.001 "
                                 "     4.0          2.0\n"));
    free(text);
    text = output(&t, true);
    check_xml(text);
    assert_int_equal(count(text, "messages to rank 1"), 1);
    assert_non_null(strstr(text, "rank 1, worker 0: 25 % idle"));
    free(text);
    trace_free(&t);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static int tool(const char *const *argv, const char *log)
{
    return tool_run(&(struct tool){.argv = argv, .log = log, .hint = " (try elsewhere)"}, &why);
}

static void test_tools(void **state)
{
    char log[] = "/tmp/cavs-trace-XXXXXX";
    int fd = mkstemp(log);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(tool((const char *const[]){"true", NULL}, log), CAVS_OK);
    assert_int_not_equal(access(log, F_OK), 0); /* it said nothing: no log */
    assert_int_equal(tool((const char *const[]){"true", NULL}, NULL), CAVS_OK);
    assert_int_equal(tool((const char *const[]){"echo", "yes", NULL}, log), CAVS_OK);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(tool((const char *const[]){"false", NULL}, log), CAVS_ERUNTIME);
    assert_non_null(strstr(why.text, "false failed with status 1; what it said is in /tmp/"));
    assert_int_equal(tool((const char *const[]){"false", NULL}, NULL), CAVS_ERUNTIME);
    assert_string_equal(why.text, "false failed with status 1");
    assert_int_equal(tool((const char *const[]){"no-such-tool", NULL}, log), CAVS_ERUNTIME);
    assert_non_null(strstr(why.text, "cannot run no-such-tool"));
    assert_non_null(strstr(why.text, "(try elsewhere)"));
    unlink(log);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),        cmocka_unit_test(test_records),
        cmocka_unit_test(test_dependencies),  cmocka_unit_test(test_data_dependencies),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_totals),
        cmocka_unit_test(test_overlap),       cmocka_unit_test(test_longest_path),
        cmocka_unit_test(test_cycle),         cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_of_one),   cmocka_unit_test(test_svg),
        cmocka_unit_test(test_svg_of_many),   cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_tools),         cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_text_of_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
