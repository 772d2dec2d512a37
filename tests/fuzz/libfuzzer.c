/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libfuzzer.c - libFuzzer over one of the targets:
 *
 *     tests/fuzz/explore --target=TARGET [-max_total_time=SECONDS ...] FOLDER
 *
 * New inputs go to the folder; begin with a copy of tests/fuzz/corpus/TARGET.  libFuzzer leaves
 * options of two dashes to us.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char option[] = "--target=";

    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], option, sizeof option - 1) == 0)
            target = fuzz_find((*argv)[i] + sizeof option - 1);
    if (target)
        return 0;
    fprintf(stderr, "which target?  --target=");
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        fprintf(stderr, "%s%s", t->name, t[1].name ? ", " : "\n");
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target->run(data, size);
    return 0;
}
