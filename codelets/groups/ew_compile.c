/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_compile.c - finds the system's C compiler and gives it work, without a shell.
 *
 * What it makes depends on the compiler and, through -march=native, on the CPU: both are part of
 * the name under which the result is cached. The compiler is known by the file's size and time, so
 * that a cached group is found without running anything.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codelets/groups/ew_internal.h"

#define MAX_WORDS 32 /* in $CC */

/* Flags for fast code in which NaN and infinities keep their meaning, and sums the order that
 * ew_math.def gives them. */
static const char *const flags[] = {
    "-w",      "-std=gnu11", "-fopenmp-simd",         "-fno-math-errno",   "-fno-trapping-math",
    "-O3",     "-fPIC",      "-fno-associative-math", "-fno-signed-zeros", "-ffp-contract=fast",
    "-shared",
};
#define NFLAGS ((int)(sizeof flags / sizeof *flags))

/* Flags for this machine; a compiler may not know one of them. */
static int native_flags(const char *to[2])
{
    int n = 0;

    to[n++] = "-march=native";
#if defined __x86_64__ && defined __GNUC__
    if (__builtin_cpu_supports("avx512f"))
        to[n++] = "-mprefer-vector-width=512";
#endif
    return n;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return cavs__hash(h, text, strlen(text) + 1);
}

/* ---- what the result depends on ---- */

/* The lines of /proc/cpuinfo that say what the first processor is and can do. */
static uint64_t hash_cpu(uint64_t h)
{
    static const char *const lines[] = {"vendor_id", "cpu family", "model",
                                        "flags",     "Features",   "CPU implementer",
                                        "CPU part",  "isa",        "cpu\t"};
    FILE *f = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t size = 0;

    while (f && getline(&line, &size, f) > 1)
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            if (!strncmp(line, lines[i], strlen(lines[i])))
                h = hash_text(h, line);
    free(line);
    if (f)
        fclose(f);
    return h;
}

/* The file that a word of the command names, on its own or through PATH; NULL if none. */
static char *find_program(const char *word, struct stat *st)
{
    const char *path = strchr(word, '/') ? "" : getenv("PATH");
    char *name = NULL;

    for (int n; path; path = path[n] ? path + n + 1 : NULL) {
        n = (int)strcspn(path, ":");
        if (asprintf(&name, "%.*s%s%s", n, path, n ? "/" : "", word) < 0)
            return NULL;
        if (!stat(name, st) && S_ISREG(st->st_mode) && !access(name, X_OK))
            return name;
        free(name);
    }
    return NULL;
}

static uint64_t hash_word(uint64_t h, const char *word)
{
    struct stat st;
    char *file = word[0] == '-' ? NULL : find_program(word, &st);

    h = hash_text(h, word);
    if (file) {
        h = hash_text(h, file);
        h = cavs__hash(h, &st.st_size, sizeof st.st_size);
        h = cavs__hash(h, &st.st_mtim, sizeof st.st_mtim);
    }
    free(file);
    return h;
}

static uint64_t hash_flags(uint64_t h)
{
    const char *native[2];
    int n = native_flags(native);

    for (int i = 0; i < NFLAGS; i++)
        h = hash_text(h, flags[i]);
    for (int i = 0; i < n; i++)
        h = hash_text(h, native[i]);
    return h;
}

/* ---- the command ---- */

int cavs__ew_compiler_find(struct cavs__ew_compiler *c)
{
    const char *cc = getenv("CC");
    struct stat st;
    char *program, *save = NULL;

    *c = (struct cavs__ew_compiler){.words = strdup(cc && *cc ? cc : "cc"),
                                    .identity = hash_cpu(CAVS__HASH_START)};
    c->word = c->words ? calloc(MAX_WORDS, sizeof *c->word) : NULL;
    if (!c->word) {
        cavs__ew_fallback("out of memory");
        cavs__ew_compiler_free(c);
        return -1;
    }
    for (char *w = strtok_r(c->words, " \t", &save); w && c->nwords < MAX_WORDS;
         w = strtok_r(NULL, " \t", &save)) {
        c->word[c->nwords++] = w;
        c->identity = hash_word(c->identity, w);
    }
    program = c->nwords ? find_program(c->word[0], &st) : NULL;
    if (!program) {
        cavs__ew_fallback("there is no C compiler %s", cc && *cc ? cc : "cc");
        cavs__ew_compiler_free(c);
        return -1;
    }
    free(program);
    c->identity = hash_flags(c->identity);
    return 0;
}

void cavs__ew_compiler_free(struct cavs__ew_compiler *c)
{
    free(c->words);
    free(c->word);
}

static enum cavs__ew_end run_with(const struct cavs__ew_compiler *c, const char *const native[],
                                  int nnative, const char *source_path, const char *object_path,
                                  const char *log_path)
{
    const char *argv[MAX_WORDS + NFLAGS + 8];
    int n = 0;

    for (int i = 0; i < c->nwords; i++)
        argv[n++] = c->word[i];
    for (int i = 0; i < NFLAGS; i++)
        argv[n++] = flags[i];
    for (int i = 0; i < nnative; i++)
        argv[n++] = native[i];
    argv[n++] = "-o";
    argv[n++] = object_path;
    argv[n++] = source_path;
    argv[n] = NULL;
    return cavs__ew_process_run((char *const *)argv, log_path);
}

/* Takes the compiler's first complaint for the message. */
static void explain(const struct cavs__ew_compiler *c, const char *log_path)
{
    FILE *log = fopen(log_path, "re");
    char line[200] = "";
    const char *said = NULL; /* what comes before it names a file of no interest */

    while (log && !said && fgets(line, sizeof line, log))
        said = strstr(line, "error");
    line[strcspn(line, "\n")] = 0;
    if (!said)
        said = *line ? line : "it does not say why";
    cavs__ew_fallback("%s failed: %s", c->word[0], said);
    if (log)
        fclose(log);
}

/* The compiler that did not end in time: it is not waited for again and again. */
static _Atomic uint64_t given_up;

static void give_up(const struct cavs__ew_compiler *c)
{
    given_up = c->identity;
    cavs__ew_fallback("%s took more than %ld s (CAVS_COMPILE_TIMEOUT) and is not tried again",
                      c->word[0], cavs__ew_process_limit());
}

bool cavs__ew_compiler_run(const struct cavs__ew_compiler *c, const char *source_path,
                           const char *object_path, const char *log_path)
{
    const char *native[2];
    int n = native_flags(native);
    enum cavs__ew_end rc = CAVS__EW_TOO_LATE;

    if (given_up != c->identity)
        rc = run_with(c, native, n, source_path, object_path, log_path);
    if (rc == CAVS__EW_FAILED)
        rc = run_with(c, NULL, 0, source_path, object_path, log_path);
    if (rc == CAVS__EW_TOO_LATE)
        give_up(c);
    else if (rc == CAVS__EW_FAILED)
        explain(c, log_path);
    return rc == CAVS__EW_DONE;
}
