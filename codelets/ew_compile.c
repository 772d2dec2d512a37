/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_compile.c - finds and runs the system's C compiler, without a shell.
 *
 * What it makes depends on the compiler and, through -march=native, on the CPU: both are part of
 * the name under which the result is cached. The compiler is known by the file's size and time, so
 * that a cached group is found without running anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codelets/ew_internal.h"

extern char **environ;

#define MAX_WORDS 32 /* in $CC */

/* Fast, but NaN and infinities keep their meaning, and ew_math.def its order of sums. */
static const char *const flags[] = {
    "-w",      "-std=gnu11", "-fopenmp-simd",         "-fno-math-errno",   "-fno-trapping-math",
    "-O3",     "-fPIC",      "-fno-associative-math", "-fno-signed-zeros", "-ffp-contract=fast",
    "-shared",
};
#define NFLAGS ((int)(sizeof flags / sizeof *flags))

/* For this machine; a compiler may not know one of them. */
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

uint64_t cavs__ew_hash(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 0x100000001b3u; /* FNV-1a */
    return h;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return cavs__ew_hash(h, text, strlen(text) + 1);
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
        h = cavs__ew_hash(h, &st.st_size, sizeof st.st_size);
        h = cavs__ew_hash(h, &st.st_mtim, sizeof st.st_mtim);
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
                                    .identity = hash_cpu(CAVS__EW_HASH_START)};
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

/* Runs a command with its output in a file; 0 if it succeeded. A host program that ignores SIGCHLD
 * leaves nothing to wait for: then the caller looks at what was made. */
static int run(char *const argv[], const char *log_path)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int rc, status = 0;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    rc = posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (rc)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status ? -1 : 0;
}

static int run_with(const struct cavs__ew_compiler *c, const char *const native[], int nnative,
                    const char *source_path, const char *object_path, const char *log_path)
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
    return run((char *const *)argv, log_path);
}

int cavs__ew_compiler_run(const struct cavs__ew_compiler *c, const char *source_path,
                          const char *object_path, const char *log_path)
{
    const char *native[2];
    int n = native_flags(native);

    if (!run_with(c, native, n, source_path, object_path, log_path))
        return 0;
    return run_with(c, NULL, 0, source_path, object_path, log_path);
}
