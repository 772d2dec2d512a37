/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cuda_kernels.c - the text of the kernels compiles for the GPUs of two generations.  NVRTC
 * needs no GPU for that.  With arguments, these files of device text instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#ifdef HAVE_CUDA

#include "codelets/device/device.h"
#include "codelets/device/nvrtc.h"

static int number, failures;

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (f && getdelim(&text, &size, 0, f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

/* Machine code of a GPU is an ELF file. */
static void compile(const char *what, const char *source, const char *architecture)
{
    char log[400] = "no text";
    size_t size = 0;
    void *code;
    int rc = source ? cavs__nvrtc_compile(source, architecture, &code, &size, log, sizeof log) : -1;
    bool done = rc == 0 && size > 4 && memcmp(code, "\177ELF", 4) == 0;

    printf("%s %d - %s compiles for %s\n", done ? "ok" : "not ok", ++number, what, architecture);
    if (!done)
        printf("# %s\n", log);
    failures += !done;
    if (rc == 0)
        free(code);
}

static void compile_for_all(const char *what, const char *source)
{
    compile(what, source, "sm_80");
    compile(what, source, "sm_90");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *text = read_file(argv[i]), *base = strrchr(argv[i], '/');

        compile_for_all(base ? base + 1 : argv[i], text);
        free(text);
    }
    if (argc < 2)
        compile_for_all("kernels.cl", cavs__device_kernels_text);
    printf("1..%d\n", number);
    return failures > 0;
}

#else

int main(void)
{
    printf("1..0 # SKIP built without CUDA\n");
    return 0;
}

#endif
