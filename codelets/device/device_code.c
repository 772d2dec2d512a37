/* SPDX-License-Identifier: Apache-2.0 */
/* device_code.c - modules from source text; what devices' compilers have made of it is kept. */
#include <stdlib.h>

#include "codelets/device/device.h"

enum { IDENTITY_SIZE = 2560 };

/* The compiler's code, which is kept from now on. */
static void *compile(const struct cavs__device *d, const char *identity, const char *source,
                     size_t *size, struct cavs__complaint *why)
{
    void *code = d->driver->compile(d, source, size, why);

    if (code)
        cavs__device_cache_put(identity, source, code, *size);
    return code;
}

/* NULL: nothing is kept, or the driver does not take it. */
static void *from_file(struct cavs__device *d, const char *identity, const char *source)
{
    struct cavs__complaint why;
    size_t size = 0;
    void *code = cavs__device_cache_get(identity, source, &size);
    void *module = code ? d->driver->load(d, code, size, &why) : NULL;

    free(code);
    return module;
}

static void *from_text(struct cavs__device *d, const char *identity, const char *source)
{
    struct cavs__complaint why = {""};
    size_t size = 0;
    void *code = compile(d, identity, source, &size, &why);
    void *module = code ? d->driver->load(d, code, size, &why) : NULL;

    free(code);
    if (!module)
        cavs__device_fail(d, "%s", why.text);
    return module;
}

void *cavs__device_build(struct cavs__device *d, const char *source)
{
    char identity[IDENTITY_SIZE];
    void *module;

    d->driver->identify(d, identity, sizeof identity);
    module = from_file(d, identity, source);
    if (module) {
        d->cached++;
        return module;
    }
    module = from_text(d, identity, source);
    d->compiled += module != NULL;
    return module;
}

void cavs__device_build_ahead(const struct cavs__device *d, const char *source)
{
    char identity[IDENTITY_SIZE];
    struct cavs__complaint why;
    size_t size;

    d->driver->identify(d, identity, sizeof identity);
    if (!cavs__device_cache_has(identity, source))
        free(compile(d, identity, source, &size, &why));
}
