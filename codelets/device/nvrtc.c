/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvrtc.c - see nvrtc.h.
 *
 * NVRTC is opened when it is first needed, not linked: its 200,000 relocations would cost each
 * program that starts 10 ms, and most machines with a toolkit have no GPU or are not asked for it.
 */
#include "codelets/device/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <nvrtc.h>

/* ---- the library ---- */

/* All that is called of it. */
/* clang-format off */
#define FUNCTIONS(F)             \
    F(nvrtcVersion)              \
    F(nvrtcGetErrorString)       \
    F(nvrtcGetNumSupportedArchs) \
    F(nvrtcGetSupportedArchs)    \
    F(nvrtcCreateProgram)        \
    F(nvrtcCompileProgram)       \
    F(nvrtcDestroyProgram)       \
    F(nvrtcGetProgramLogSize)    \
    F(nvrtcGetProgramLog)        \
    F(nvrtcGetCUBINSize)         \
    F(nvrtcGetCUBIN)             \
    F(nvrtcGetPTXSize)           \
    F(nvrtcGetPTX)
/* clang-format on */

static struct {
    bool usable;
    char why[200]; /* not */
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} nvrtc;

/* The major version is that of the headers: what is called changes with it. */
static void open_library(void)
{
    char name[32];
    void *library;

    snprintf(name, sizeof name, "libnvrtc.so.%d", CUDA_VERSION / 1000);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    nvrtc.usable = library;
    if (!library)
        snprintf(nvrtc.why, sizeof nvrtc.why, "%s", dlerror());
#define LOOK_UP(function)                                                           \
    if (nvrtc.usable && !(*(void **)&nvrtc.function = dlsym(library, #function))) { \
        snprintf(nvrtc.why, sizeof nvrtc.why, "%s has no %s", name, #function);     \
        nvrtc.usable = false;                                                       \
    }
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

static bool is_usable(void)
{
    static pthread_once_t opened = PTHREAD_ONCE_INIT;

    pthread_once(&opened, open_library);
    return nvrtc.usable;
}

const char *cavs__nvrtc_missing(void)
{
    return is_usable() ? NULL : nvrtc.why;
}

int cavs__nvrtc_version(void)
{
    int major = 0, minor = 0;

    if (is_usable())
        nvrtc.nvrtcVersion(&major, &minor);
    return 1000 * major + 10 * minor;
}

/* ---- compiling ---- */

static void explain(nvrtcProgram program, nvrtcResult rc, char *log, size_t size)
{
    size_t length = 0;
    char *text, *line;

    if (nvrtc.nvrtcGetProgramLogSize(program, &length) != NVRTC_SUCCESS)
        length = 0;
    text = calloc(1, length + 1);
    if (text && length > 0)
        nvrtc.nvrtcGetProgramLog(program, text);
    line = text ? strstr(text, "error") : NULL;
    snprintf(log, size, "%s: %.*s", nvrtc.nvrtcGetErrorString(rc),
             line ? (int)strcspn(line, "\n") : 0, line ? line : "");
    free(text);
}

/* Machine code, or the text of a virtual architecture. */
static nvrtcResult take_code(nvrtcProgram program, int machine, void **code, size_t *size)
{
    nvrtcResult rc =
        machine ? nvrtc.nvrtcGetCUBINSize(program, size) : nvrtc.nvrtcGetPTXSize(program, size);

    *code = rc == NVRTC_SUCCESS ? malloc(*size + 1) : NULL;
    if (!*code)
        return rc == NVRTC_SUCCESS ? NVRTC_ERROR_OUT_OF_MEMORY : rc;
    rc = machine ? nvrtc.nvrtcGetCUBIN(program, *code) : nvrtc.nvrtcGetPTX(program, *code);
    if (rc != NVRTC_SUCCESS)
        free(*code);
    return rc;
}

int cavs__nvrtc_compile(const char *source, const char *architecture, void **code, size_t *size,
                        char *log, size_t log_size)
{
    nvrtcProgram program;
    char option[64];
    const char *options[] = {option, "--std=c++17", "-default-device"};
    nvrtcResult rc;

    if (!is_usable()) {
        snprintf(log, log_size, "%s", nvrtc.why);
        return -1;
    }
    rc = nvrtc.nvrtcCreateProgram(&program, source, "cavs.cu", 0, NULL, NULL);
    if (rc != NVRTC_SUCCESS) {
        snprintf(log, log_size, "%s", nvrtc.nvrtcGetErrorString(rc));
        return -1;
    }
    snprintf(option, sizeof option, "--gpu-architecture=%s", architecture);
    rc = nvrtc.nvrtcCompileProgram(program, 3, options);
    if (rc == NVRTC_SUCCESS)
        rc = take_code(program, strncmp(architecture, "sm_", 3) == 0, code, size);
    if (rc != NVRTC_SUCCESS)
        explain(program, rc, log, log_size);
    nvrtc.nvrtcDestroyProgram(&program);
    return rc == NVRTC_SUCCESS ? 0 : -1;
}

void cavs__nvrtc_architecture(int capability, char *to, size_t size)
{
    int n = 0, newest = 0, *known;

    if (!is_usable() || nvrtc.nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS)
        n = 0;
    known = calloc((size_t)n + 1, sizeof *known);
    if (known && nvrtc.nvrtcGetSupportedArchs(known) == NVRTC_SUCCESS)
        for (int i = 0; i < n; i++)
            if (known[i] <= capability && known[i] > newest)
                newest = known[i];
    free(known);
    snprintf(to, size, "%s_%d", newest == capability || !newest ? "sm" : "compute",
             newest ? newest : capability);
}
