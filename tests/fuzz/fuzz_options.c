/* SPDX-License-Identifier: Apache-2.0 */
/* The options that all programs have; one argument a line. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/options.h"
#include "tests/fuzz/targets.h"

enum { MOST_ARGUMENTS = 64 };

/* Whatever was said, values are in their ranges: a refused one leaves the lower end of its own. */
static void check_accepted(const struct app_options *o)
{
    FUZZ_MUST(o->epochs >= 0 && o->batch >= 1 && o->hidden >= 1 && o->embed >= 0 && o->every >= 0,
              "a number out of its range was accepted");
    FUZZ_MUST(o->session.lr >= 0 && o->session.clip >= 0 && o->session.weight_decay >= 0,
              "a negative number, or NaN, was accepted");
    FUZZ_MUST(o->session.optimizer <= CAVS_ADAM && o->session.policy <= CAVS_POLICY_AGENDA,
              "a choice that does not exist was accepted");
}

void fuzz_options(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *arguments[MOST_ARGUMENTS + 2] = {"fuzz"}, *rest = text;
    struct app_options o = app_options_defaults();
    int n = 1;

    FUZZ_MUST(text, "no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word; n <= MOST_ARGUMENTS && (word = strsep(&rest, "\n"));)
        if (*word)
            arguments[n++] = word;
    /* with these flags argp neither prints nor exits; a mistake leaves the value at the lower end of its range */
    argp_parse(&app_argp, n, arguments, ARGP_SILENT, NULL, &o);
    check_accepted(&o);
    free(text);
}
