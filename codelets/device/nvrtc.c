/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc.c - see nvrtc.h. */
#include "codelets/device/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvrtc.h>

static void explain(nvrtcProgram program, nvrtcResult rc, char *log, size_t size)
{
    size_t length = 0;
    char *text, *line;

    if (nvrtcGetProgramLogSize(program, &length) != NVRTC_SUCCESS)
        length = 0;
    text = calloc(1, length + 1);
    if (text && length > 0)
        nvrtcGetProgramLog(program, text);
    line = text ? strstr(text, "error") : NULL;
    snprintf(log, size, "%s: %.*s", nvrtcGetErrorString(rc), line ? (int)strcspn(line, "\n") : 0,
             line ? line : "");
    free(text);
}

/* Machine code, or the text of a virtual architecture. */
static nvrtcResult take_code(nvrtcProgram program, int machine, void **code, size_t *size)
{
    nvrtcResult rc = machine ? nvrtcGetCUBINSize(program, size) : nvrtcGetPTXSize(program, size);

    *code = rc == NVRTC_SUCCESS ? malloc(*size + 1) : NULL;
    if (!*code)
        return rc == NVRTC_SUCCESS ? NVRTC_ERROR_OUT_OF_MEMORY : rc;
    rc = machine ? nvrtcGetCUBIN(program, *code) : nvrtcGetPTX(program, *code);
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
    nvrtcResult rc = nvrtcCreateProgram(&program, source, "cavs.cu", 0, NULL, NULL);

    if (rc != NVRTC_SUCCESS) {
        snprintf(log, log_size, "%s", nvrtcGetErrorString(rc));
        return -1;
    }
    snprintf(option, sizeof option, "--gpu-architecture=%s", architecture);
    rc = nvrtcCompileProgram(program, 3, options);
    if (rc == NVRTC_SUCCESS)
        rc = take_code(program, strncmp(architecture, "sm_", 3) == 0, code, size);
    if (rc != NVRTC_SUCCESS)
        explain(program, rc, log, log_size);
    nvrtcDestroyProgram(&program);
    return rc == NVRTC_SUCCESS ? 0 : -1;
}

void cavs__nvrtc_architecture(int capability, char *to, size_t size)
{
    int n = 0, newest = 0, *known;

    if (nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS)
        n = 0;
    known = calloc((size_t)n + 1, sizeof *known);
    if (known && nvrtcGetSupportedArchs(known) == NVRTC_SUCCESS)
        for (int i = 0; i < n; i++)
            if (known[i] <= capability && known[i] > newest)
                newest = known[i];
    free(known);
    snprintf(to, size, "%s_%d", newest == capability || !newest ? "sm" : "compute",
             newest ? newest : capability);
}
