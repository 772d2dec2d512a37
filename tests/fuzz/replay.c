/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs every target over its corpus and mutations of it; a line of TAP for each target.
 *
 *     test_fuzz_corpus                               all of it
 *     test_fuzz_corpus TARGET FILE                   one input, in this process: for a debugger
 *     test_fuzz_corpus TARGET FILE MUTATION OUTPUT   writes the input that a failed test names
 *     test_fuzz_corpus --make TARGET OUTPUT          writes a sound input for libFuzzer
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

enum { MUTATIONS = 300, MOST_BYTES = 1 << 20, SECONDS = 20 };

/* Where the process of a target is: its parent tells if it dies. */
struct place {
    char file[4096];
    int mutation; /* 0: the file itself */
};

struct input {
    uint8_t *data;
    size_t size;
};

/* ---- inputs ---------------------------------------------------------------------------------- */

static struct input read_file(const char *path)
{
    struct input in = {malloc(MOST_BYTES), 0};
    FILE *f = fopen(path, "rb");

    FUZZ_MUST(f && in.data, "cannot read %s", path);
    in.size = fread(in.data, 1, MOST_BYTES, f);
    fclose(f);
    return in;
}

/* FILE as it is named to the user: a path, or "made". */
static struct input read_input(const struct fuzz_target *t, const char *file)
{
    struct input in;

    if (strcmp(file, "made") != 0)
        return read_file(file);
    in.data = fuzz_made(t->make, &in.size);
    return in;
}

/* In a block of just its size, so that reading behind it is seen. */
static struct input mutation_of(const struct input *in, int number)
{
    uint8_t *room = malloc(MOST_BYTES);
    struct input out;

    FUZZ_MUST(room, "no memory");
    memcpy(room, in->data, in->size);
    out.size = number ? fuzz_mutate(room, in->size, MOST_BYTES, (uint64_t)number) : in->size;
    out.data = realloc(room, out.size ? out.size : 1);
    return out;
}

/* ---- a target -------------------------------------------------------------------------------- */

static void run_one(const struct fuzz_target *t, const struct input *in, int number)
{
    struct input changed = mutation_of(in, number);

    alarm(SECONDS);
    t->run(changed.data, changed.size);
    alarm(0);
    free(changed.data);
}

static void run_file(const struct fuzz_target *t, const char *file, struct place *place)
{
    struct input in = read_input(t, file);

    snprintf(place->file, sizeof place->file, "%s", file);
    for (place->mutation = 0; place->mutation <= MUTATIONS; place->mutation++)
        run_one(t, &in, place->mutation);
    free(in.data);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Returns the number of files. */
static int run_target(const struct fuzz_target *t, const char *folder, struct place *place)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, not_hidden, alphasort), files = n > 0 ? n : 0;

    for (int i = 0; i < n; i++) {
        char *path;

        FUZZ_MUST(asprintf(&path, "%s/%s", folder, entries[i]->d_name) > 0, "no memory");
        run_file(t, path, place);
        free(path);
        free(entries[i]);
    }
    free(entries);
    if (t->make)
        run_file(t, "made", place);
    return files + (t->make != NULL);
}

/* In a process of its own, which may die; 0 if it did not. */
static int guard(const struct fuzz_target *t, const char *folder, struct place *place)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    FUZZ_MUST(child >= 0, "cannot fork");
    if (child == 0)
        exit(run_target(t, folder, place) > 0 ? 0 : 1);
    FUZZ_MUST(waitpid(child, &status, 0) == child, "cannot wait");
    return status;
}

static void test(const struct fuzz_target *t, int number, const char *corpus, struct place *place)
{
    char folder[4000];
    int status;

    snprintf(folder, sizeof folder, "%s/%s", corpus, t->name);
    *place = (struct place){.file = "no file"};
    status = guard(t, folder, place);
    printf("%sok %d - %s: its corpus and %d mutations of each file\n", status ? "not " : "", number,
           t->name, MUTATIONS);
    if (status)
        printf("# status %#x, in %s, mutation %d\n", status, place->file, place->mutation);
}

static int test_all(void)
{
    const char *top = getenv("abs_top_srcdir");
    struct place *place =
        mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char corpus[3900];
    int n = 0;

    FUZZ_MUST(place != MAP_FAILED, "no memory");
    snprintf(corpus, sizeof corpus, "%s/tests/fuzz/corpus", top ? top : ".");
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        test(t, ++n, corpus, place);
    printf("1..%d\n", n);
    return 0;
}

/* ---- single inputs --------------------------------------------------------------------------- */

static int write_mutation(const struct fuzz_target *t, const char *file, int number,
                          const char *output)
{
    struct input in = read_input(t, file), changed = mutation_of(&in, number);
    FILE *f = fopen(output, "wb");
    size_t written = f ? fwrite(changed.data, 1, changed.size, f) : 0;

    free(in.data);
    free(changed.data);
    return f && fclose(f) == 0 && written == changed.size ? 0 : 1;
}

int main(int argc, char **argv)
{
    bool make = argc == 4 && strcmp(argv[1], "--make") == 0;
    const struct fuzz_target *t = argc > 2 ? fuzz_find(argv[make ? 2 : 1]) : NULL;

    if (argc == 1)
        return test_all();
    if (!t || (make && !t->make)) {
        fprintf(stderr, "usage: %s [TARGET FILE [MUTATION OUTPUT]], %s --make TARGET OUTPUT\n",
                argv[0], argv[0]);
        return 2;
    }
    if (make) {
        t->make(argv[3]);
    } else if (argc == 3) {
        struct input in = read_input(t, argv[2]);

        run_one(t, &in, 0);
        free(in.data);
    } else if (argc == 5) {
        return write_mutation(t, argv[2], atoi(argv[3]), argv[4]);
    }
    return 0;
}
