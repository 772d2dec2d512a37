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
    FUZZ_MUST(o->session.optimizer < CAVS_OPTIMIZERS && o->session.policy < CAVS_POLICIES,
              "a choice that does not exist was accepted");
}

void fuzz_options(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *arguments[MOST_ARGUMENTS + 2] = {"fuzz"}, *rest = text;
    struct app_options o = app_options_defaults();
    struct option_set sets[] = {
        {app_options_data, &o},  {app_options_packed, &o},  {app_options_training, &o},
        {app_options_batch, &o}, {app_options_embed, &o},   {app_options_rate, &o},
        {app_options_files, &o}, {app_options_machine, &o}, {NULL, NULL}};
    struct option_list list;
    int n = 1;

    FUZZ_MUST(text, "no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word; n <= MOST_ARGUMENTS && (word = strsep(&rest, "\n"));)
        if (*word)
            arguments[n++] = word;
    /* with these flags argp neither prints nor exits; a mistake leaves the value at the lower end
     * of its range */
    FUZZ_MUST(options_list(&list, sets), "no memory");
    options_parse(&list, NULL, ARGP_SILENT, n, arguments);
    check_accepted(&o);
    options_clear(&list);
    free(text);
}
