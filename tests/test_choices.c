/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_choices.c - walks the tables of what there is to choose from and finds what one of them
 * lacks: a name of its own, its line in --help and in the guide, what it is made of.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/update.h"
#include "core/cavs.h"
#include "scheduler/schedule.h"
#include "tests/naive_rules.h"

/* What is chosen by one option. */
struct table {
    const char *option;
    int n;
    const char *(*name)(int i);
    const char *(*summary)(int i);
};

static const struct table tables[] = {
    {"optimizer", CAVS_OPTIMIZERS, cavs_optimizer_name, cavs_optimizer_summary},
    {"policy", CAVS_POLICIES, cavs_policy_name, cavs_policy_summary},
    {"precision", CAVS_PRECISIONS, cavs_precision_name, cavs_precision_summary},
};

enum { TABLES = sizeof tables / sizeof *tables };

/* Calls check(table, i) for every choice of every table. */
static void for_all(void check(const struct table *, int))
{
    for (int t = 0; t < TABLES; t++) {
        for (int i = 0; i < tables[t].n; i++)
            check(&tables[t], i);
    }
}

static void check_name(const struct table *t, int i)
{
    const char *name = t->name(i), *summary = t->summary(i);

    if (!name || !*name)
        fail_msg("%s %d has no name", t->option, i);
    for (const char *c = name; *c; c++) {
        if (!islower(*c) && !isdigit(*c))
            fail_msg("%s %s: programs take names in small letters", t->option, name);
    }
    if (!summary || !*summary)
        fail_msg("%s %s has no line that says what it does", t->option, name);
    for (int k = 0; k < i; k++) {
        if (strcmp(t->name(k), name) == 0 || strcmp(t->summary(k), summary) == 0)
            fail_msg("%s %s: %d is called so, too, or has its line", t->option, name, k);
    }
}

static void every_choice_has_a_name_and_a_line_of_its_own(void **state)
{
    (void)state;
    for_all(check_name);
    for (int t = 0; t < TABLES; t++) {
        assert_null(tables[t].name(-1));
        assert_null(tables[t].name(tables[t].n));
        assert_null(tables[t].summary(-1));
        assert_null(tables[t].summary(tables[t].n));
    }
}

/* All of f, with one blank where there are several blanks or lines; to be freed. */
static char *words_of(FILE *f)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool blank = false;

    assert_true(f && to);
    for (int c; (c = getc(f)) != EOF;) {
        if (isspace(c)) {
            blank = true;
            continue;
        }
        fprintf(to, "%s%c", blank ? " " : "", c);
        blank = false;
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

static const char *folder(const char *variable)
{
    return getenv(variable) ? getenv(variable) : ".";
}

static char *guide;
static char *help;

static int read_texts(void **state)
{
    char path[4096];
    FILE *f;

    (void)state;
    snprintf(path, sizeof path, "%s/doc/guide.md", folder("abs_top_srcdir"));
    f = fopen(path, "r");
    guide = words_of(f);
    fclose(f);
    snprintf(path, sizeof path, "'%s/apps/tree_fc' --help", folder("abs_top_builddir"));
    f = popen(path, "r");
    help = words_of(f);
    return pclose(f);
}

static int free_texts(void **state)
{
    (void)state;
    free(guide);
    free(help);
    return 0;
}

static void check_guide(const struct table *t, int i)
{
    char row[400];

    snprintf(row, sizeof row, "| `%s` | %s |", t->name(i), t->summary(i));
    if (!strstr(guide, row))
        fail_msg("doc/guide.md has no row \"%s\" for this %s", row, t->option);
}

static void every_choice_is_in_the_guide(void **state)
{
    (void)state;
    for_all(check_guide);
}

static void check_help(const struct table *t, int i)
{
    char text[400];

    snprintf(text, sizeof text, "%s (%s)", t->name(i), t->summary(i));
    if (!strstr(help, text))
        fail_msg("--help does not say \"%s\" of --%s", text, t->option);
}

static void every_choice_is_in_the_help_of_programs(void **state)
{
    (void)state;
    for_all(check_help);
}

/* ---- what they are made of ---- */

static void every_policy_assigns_steps(void **state)
{
    (void)state;
    for (int i = 0; i < CAVS_POLICIES; i++) {
        if (!cavs__policies[i].steps)
            fail_msg("policy %s assigns no steps", cavs__policies[i].name);
    }
}

/* Whether the text has the word. */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool begins = at == text || !(isalnum(at[-1]) || at[-1] == '_');

        if (begins && !isalnum(at[n]) && at[n] != '_')
            return true;
    }
    return false;
}

/* A rule that has as many states as it reads and writes, all of them from 0 on, and a formula to
 * test it by. */
static void every_optimizer_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < CAVS_OPTIMIZERS; i++) {
        const struct cavs__rule *r = &cavs__rules[i];
        int read = has_word(r->text, "s0") + has_word(r->text, "s1");

        if (!r->title || !*r->title)
            fail_msg("optimizer %s has no title for messages", r->name);
        if (!has_word(r->text, "w") || !has_word(r->text, "lr"))
            fail_msg("optimizer %s: its step does not change w by lr", r->name);
        if (read != r->states || (has_word(r->text, "s1") && !has_word(r->text, "s0")))
            fail_msg("optimizer %s has %d states, its step uses %d", r->name, r->states, read);
        if (!naive_rules[i])
            fail_msg("optimizer %s: tests/naive_rules.c does not have its formula", r->name);
    }
}

/* d has the weight decay in it. */
static bool is_read(const char *hyperparameter)
{
    const char *word = strcmp(hyperparameter, "weight_decay") == 0 ? "d" : hyperparameter;

    for (int i = 0; i < CAVS_OPTIMIZERS; i++) {
        if (has_word(cavs__rules[i].text, word))
            return true;
    }
    return false;
}

static void every_hyperparameter_is_read_and_has_a_default_in_its_range(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();

    (void)state;
    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++) {
        if (!h->title || !*h->title)
            fail_msg("%s has no title for messages", h->name);
        if (!(h->standard >= h->lo && h->standard < h->hi) ||
            *cavs__number_at(&o, h->option) != h->standard)
            fail_msg("%s: its default is %g", h->name, (double)*cavs__number_at(&o, h->option));
        if (!is_read(h->name))
            fail_msg("no optimizer reads %s", h->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_has_a_name_and_a_line_of_its_own),
        cmocka_unit_test(every_choice_is_in_the_guide),
        cmocka_unit_test(every_choice_is_in_the_help_of_programs),
        cmocka_unit_test(every_policy_assigns_steps),
        cmocka_unit_test(every_optimizer_is_whole),
        cmocka_unit_test(every_hyperparameter_is_read_and_has_a_default_in_its_range),
    };

    return cmocka_run_group_tests_name("choices", tests, read_texts, free_texts);
}
