/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/clashes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/option_values.h"
#include "apps/common/run_checkpoint.h"

/* Do both paths lead to one place? A name with nothing there is a place of its own. */
static bool same_place(const char *a, const char *b)
{
    struct stat x, y;

    if (stat(a, &x) != 0 || stat(b, &y) != 0)
        return strcmp(a, b) == 0;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool same_file(const char *a, const char *b)
{
    struct stat x;

    return same_place(a, b) && (stat(a, &x) != 0 || S_ISREG(x.st_mode));
}

/* May the output take the place of the other file? It may if that is read to its end before
 * anything is written. */
static bool may_share(const char *output, const char *other)
{
    return strcmp(output, "save") == 0 &&
           (strcmp(other, "init") == 0 || strcmp(other, "partial") == 0);
}

static void check_output(const struct option_list *l, const char *output)
{
    const char *path = options_file(l, output);

    for (int i = 0; path && i < l->n; i++) {
        const char *other = l->row[i]->name, *file = other ? options_file(l, other) : NULL;

        if (file && strcmp(other, output) != 0 && !may_share(output, other) &&
            same_file(path, file))
            options_mistake("--%s %s: the file of --%s, too, which would be lost", output, path,
                            other);
    }
}

static const char *folder(const struct option_list *l, const char *name)
{
    return *(const char **)options_value(l, options_find(l, name));
}

static bool is_checkpoint(const char *path, const char *folder)
{
    char *kept = checkpoint_file(folder);
    bool same = kept && same_file(path, kept);

    free(kept);
    return same;
}

/* A checkpoint is more than a model: no run goes on from what --save writes. */
static void check_folder(const struct option_list *l, const char *option)
{
    static const char *const outputs[] = {"save", "log", "output"};
    const char *path = folder(l, option);

    for (int i = 0; path && i < 3; i++) {
        const char *output = options_file(l, outputs[i]);

        if (output && is_checkpoint(output, path))
            options_mistake("--%s %s: the file of --%s %s, too, which would be lost", outputs[i],
                            output, option, path);
    }
}

/* A trace must have its folder to itself. */
static void check_trace(const struct option_list *l, const char *other)
{
    const char *trace = folder(l, "trace"), *path = folder(l, other);

    if (trace && path && same_place(trace, path))
        options_mistake("--trace %s: the folder of --%s, too; a trace wants one of its own", trace,
                        other);
}

void clashes_check(const struct option_list *l)
{
    check_output(l, "save");
    check_output(l, "log");
    check_output(l, "output");
    check_folder(l, "checkpoint");
    check_folder(l, "resume");
    check_trace(l, "checkpoint");
    check_trace(l, "resume");
}
