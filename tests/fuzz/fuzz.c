/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_MADE = 1 << 20 };

void fuzz_failed(const char *file, int line, const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "# %s:%d: ", file, line);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}

/* fmemopen() refuses empty buffers on some systems */
FILE *fuzz_stream(const uint8_t *data, size_t size)
{
    FILE *f = size ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "r");

    FUZZ_MUST(f, "no stream");
    return f;
}

struct fuzz_file fuzz_file(const uint8_t *data, size_t size)
{
    struct fuzz_file f = {.descriptor = memfd_create("fuzz", MFD_CLOEXEC)};

    FUZZ_MUST(f.descriptor >= 0, "no file in memory");
    for (size_t at = 0; at < size;) {
        ssize_t n = write(f.descriptor, data + at, size - at);

        FUZZ_MUST(n > 0, "cannot write to a file in memory");
        at += (size_t)n;
    }
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
    return f;
}

void fuzz_file_close(struct fuzz_file *f)
{
    close(f->descriptor);
}

/* Files are replaced as a whole, so this one needs a folder. */
uint8_t *fuzz_made(void (*make)(const char *path), size_t *size)
{
    char folder[] = "/tmp/cavs-fuzz-XXXXXX", path[64];
    uint8_t *bytes = malloc(MOST_MADE);
    FILE *f;

    FUZZ_MUST(bytes && mkdtemp(folder), "no memory or no folder in /tmp");
    snprintf(path, sizeof path, "%s/made", folder);
    make(path);
    f = fopen(path, "rb");
    FUZZ_MUST(f, "nothing was made");
    *size = fread(bytes, 1, MOST_MADE, f);
    fclose(f);
    unlink(path);
    rmdir(folder);
    return bytes;
}

void fuzz_split(const uint8_t *data, size_t size, int n, struct fuzz_part *out)
{
    static const char mark[] = "====\n";

    for (int i = 0; i < n; i++) {
        const uint8_t *end = i + 1 < n ? memmem(data, size, mark, sizeof mark - 1) : NULL;
        size_t length = end ? (size_t)(end - data) : size;
        size_t skipped = end ? length + sizeof mark - 1 : size;

        out[i] = (struct fuzz_part){data, length};
        data += skipped;
        size -= skipped;
    }
}

int fuzz_byte(struct fuzz_bytes *b)
{
    if (!b->size)
        return 0;
    b->size--;
    return *b->data++;
}
