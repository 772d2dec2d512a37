/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cunvrtc.c - NVRTC's functions: the host's compiler makes a shared object of CUDA's text, which is
 * what these GPUs call machine code.
 */
#include "tests/cuda/gpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvrtc.h>

struct _nvrtcProgram {
    char *text, *log;
    void *code;
    size_t size;
};

/* ---- files and processes ---- */

static char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    char *all = NULL;

    if (f && fseek(f, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(f);
        rewind(f);
        all = calloc(1, *size + 1);
        if (all && fread(all, 1, *size, f) != *size)
            gpu_complain("%s cannot be read", path);
    }
    if (f)
        fclose(f);
    return all;
}

static bool run(char *const *command, const char *err)
{
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = -1;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, err, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (posix_spawnp(&child, command[0], &files, NULL, command, environ))
        gpu_complain("%s cannot be run", command[0]);
    posix_spawn_file_actions_destroy(&files);
    if (waitpid(child, &status, 0) < 0)
        return false;
    return status == 0;
}

static char *compiler(void)
{
    char *cxx = getenv("CXX");

    return cxx ? cxx : "c++";
}

/* ---- the table of kernels ---- */

/* With the text as the preprocessor leaves it: `__launch_bounds__(64) name(`, __launch_bounds__
 * spelled KERNEL_OF. */
static void write_table(FILE *f, const char *preprocessed)
{
    const char *p = preprocessed;
    char name[100];
    int items;

    fprintf(f, "\nextern \"C\" const gpu_kernel gpu_kernels[] = {\n");
    while ((p = strstr(p, "KERNEL_OF(")) != NULL) {
        if (sscanf(p, "KERNEL_OF(%d) %99[A-Za-z0-9_]", &items, name) == 2)
            fprintf(f,
                    "{\"%s\", %d, gpu_caller<decltype(&%s)>::arguments, "
                    "gpu_caller<decltype(&%s)>::sizes, gpu_caller<decltype(&%s)>::pointers, "
                    "gpu_caller<decltype(&%s)>::run<%s>},\n",
                    name, items, name, name, name, name, name);
        p++;
    }
    fprintf(f, "{nullptr, 0, 0, nullptr, nullptr, nullptr}};\n");
}

static void write_source(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f))
        gpu_complain("%s cannot be written", path);
}

static bool preprocess(const char *folder, const char *text)
{
    char in[300], out[300], err[300];

    snprintf(in, sizeof in, "%s/text.cc", folder);
    snprintf(out, sizeof out, "%s/text.i", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    write_source(in, text);
    return run(
        (char *[]){compiler(), "-E", "-P", "-D__launch_bounds__=KERNEL_OF", "-o", out, in, NULL},
        err);
}

static bool translate(const char *folder, const char *text)
{
    char in[300], out[300], err[300];
    size_t size;
    char *preprocessed;
    FILE *f;

    snprintf(in, sizeof in, "%s/text.i", folder);
    preprocessed = read_all(in, &size);
    snprintf(in, sizeof in, "%s/all.cc", folder);
    snprintf(out, sizeof out, "%s/all.so", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    f = fopen(in, "w");
    if (!f || !preprocessed)
        gpu_complain("%s cannot be written", in);
    fprintf(f, "#include \"%s\"\n%s", GPU_DIALECT, text);
    write_table(f, preprocessed);
    fclose(f);
    free(preprocessed);
    return run((char *[]){compiler(), "-std=c++17", "-O2", "-march=native", "-ffp-contract=fast",
                          "-ftrivial-auto-var-init=pattern", "-fno-strict-aliasing", "-w", "-fPIC",
                          "-shared", "-o", out, in, NULL},
               err);
}

static nvrtcResult compile(struct _nvrtcProgram *p)
{
    const char *tmp = getenv("TMPDIR");
    char folder[200], path[300];
    bool done;

    snprintf(folder, sizeof folder, "%s/stand-in.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        gpu_complain("%s cannot be made", folder);
    done = preprocess(folder, p->text) && translate(folder, p->text);
    snprintf(path, sizeof path, "%s/err", folder);
    p->log = read_all(path, &(size_t){0});
    snprintf(path, sizeof path, "%s/all.so", folder);
    p->code = done ? read_all(path, &p->size) : NULL;
    run((char *[]){"rm", "-rf", folder, NULL}, "/dev/null");
    gpu_count(&gpu_counts.texts, 1);
    return p->code ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

/* ---- NVIDIA's own ---- */

static const char *const architectures[] = {"--gpu-architecture=sm_80", "--gpu-architecture=sm_90"};

/* Whether it takes the text, for each of these. */
static nvrtcResult ask_nvidia(struct _nvrtcProgram *p, int n, const char *const *options)
{
    const char *mine[8], *path = gpu_options()->check_nvrtc;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    __typeof__(&nvrtcCreateProgram) create = library ? dlsym(library, "nvrtcCreateProgram") : NULL;
    __typeof__(&nvrtcCompileProgram) build = library ? dlsym(library, "nvrtcCompileProgram") : NULL;
    nvrtcProgram program;
    nvrtcResult rc = NVRTC_SUCCESS;

    if (!create || !build || n > 8)
        gpu_complain("%s cannot be used: %s", path, dlerror());
    for (int i = 0; i < n; i++)
        mine[i] = options[i];
    for (int i = 0; i < 2 && rc == NVRTC_SUCCESS; i++) {
        mine[0] = architectures[i];
        rc = create(&program, p->text, "check.cu", 0, NULL, NULL);
        if (rc == NVRTC_SUCCESS)
            rc = build(program, n, mine);
    }
    if (rc != NVRTC_SUCCESS)
        p->log = strdup("error: NVIDIA's compiler refuses it");
    return rc;
}

/* ---- NVRTC's functions ---- */

/* The library keeps what was compiled, by this number: GPU_DIALECT_SUM changes with what makes C++
 * of a text. */
nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = CUDA_MAJOR;
    *minor = GPU_DIALECT_SUM;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_SUCCESS             ? "NVRTC_SUCCESS"
           : result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                               : "NVRTC_ERROR";
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
    *n = 2;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *known)
{
    known[0] = 80;
    known[1] = 90;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int n,
                               const char *const *headers, const char *const *names)
{
    (void)name, (void)headers, (void)names;
    *program = calloc(1, sizeof **program);
    if (!*program || n != 0)
        return NVRTC_ERROR_INVALID_INPUT;
    (*program)->text = strdup(text);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    free((*program)->text);
    free((*program)->log);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options)
{
    nvrtcResult rc = NVRTC_SUCCESS;

    if (n < 1 || strncmp(options[0], "--gpu-architecture=", 19) != 0)
        return NVRTC_ERROR_INVALID_OPTION;
    if (gpu_options()->check_nvrtc)
        rc = ask_nvidia(program, n, options);
    return rc == NVRTC_SUCCESS ? compile(program) : rc;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
    *size = program->log ? strlen(program->log) + 1 : 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    strcpy(log, program->log ? program->log : "");
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    *size = program->size;
    return program->code ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *code)
{
    memcpy(code, program->code, program->size);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size)
{
    return nvrtcGetCUBINSize(program, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *text)
{
    return nvrtcGetCUBIN(program, text);
}
