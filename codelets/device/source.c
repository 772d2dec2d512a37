/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the text of device kernels: embedded files, and groups from the generator. */
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "codelets/device/products.h"
#include "codelets/device/sequences.h"
#include "codelets/groups/ew_internal.h"
#include "codelets/update.h"

#define CAVS_EW_TEXT(...) #__VA_ARGS__ "\n"

const char cavs__device_kernels_text[] =
#include "codelets/device/dialect.inc"
#include "codelets/kernels/ew_math.def"
    /* for cavs_update: the rules' numbers, what they read, and what they do */
    "typedef float real;\n"
    "enum {"
#define CAVS_RULE(RULE, ...) " RULE_" #RULE ","
#include "codelets/update.def"
    " };\n"
    "#define RULE_NUMBERS int rule"
#define CAVS_NUMBER(name, ...) ", float " #name
    CAVS__UPDATE_NUMBERS(CAVS_NUMBER) "\n"
                                      "#define RULE_STEPS"
#define CAVS_RULE(RULE, name, title, states, summary, once, ...) \
    " case RULE_" #RULE ": { " #once " " #__VA_ARGS__ " break; }"
#include "codelets/update.def"
                                      "\n"
#include "codelets/device/rows.inc"
#include "codelets/device/kernels.inc"
/* products.cl, once for each size of tiles */
#define CAVS_NUMBERS(name, rows, columns, item_rows, items, steps, stages, ...) \
    "#define ROWS_OF_" #name " " #rows "\n"                                     \
    "#define COLUMNS_OF_" #name " " #columns "\n"                               \
    "#define ITEM_ROWS_OF_" #name " " #item_rows "\n"                           \
    "#define ITEMS_OF_" #name " " #items "\n"                                   \
    "#define STEPS_OF_" #name " " #steps "\n"                                   \
    "#define STAGES_OF_" #name " STAGES_OF(" #stages ")\n"
#define CAVS_TAKE(number, name) "#undef " #number "\n#define " #number " " #number "_OF_" name "\n"
#define CAVS_TILED(name)                                                                         \
    "#undef TILED\n#define TILED(f) f##_" name "\n"                                              \
    "#undef TILE_ROWS\n#define TILE_ROWS ROWS_OF_" name "\n"                                     \
    "#undef TILE_COLUMNS\n#define TILE_COLUMNS COLUMNS_OF_" name "\n" CAVS_TAKE(ITEM_ROWS, name) \
        CAVS_TAKE(ITEMS, name) CAVS_TAKE(STEPS, name) CAVS_TAKE(STAGES, name)
    CAVS__TILES(CAVS_NUMBERS) CAVS_TILED("narrow")
#include "codelets/device/products.inc"
        CAVS_TILED("short")
#include "codelets/device/products.inc"
            CAVS_TILED("tall")
#include "codelets/device/products.inc"
    ;

static const char preamble[] =
#include "codelets/device/dialect.inc"
#include "codelets/device/rows.inc"
    ;

const char *const cavs__device_kernel_names[CAVS__DEVICE_COUNT] = {
#define CAVS__NAME(name) "cavs_" #name,
    CAVS__DEVICE_KERNELS(CAVS__NAME)};

/* Views are passed as kernels.cl has it. */
static const struct cavs__ew_dialect dialect = {
    .name = "OpenCL and CUDA",
    .preamble = preamble,
    .open = "\nKERNEL(256) $f(GLOBAL const int *index, ROWS",
    .far_body = ")\n{\n"
                "    IN_TURN;\n"
                "    TAKE_ROW\n"
                "    if (r >= rows)\n"
                "        return;\n",
    CAVS__DIALECT_OF_NUMBERS,
};

/* Of group or sequence `item`, as that number of its kind. */
static void put_kernel(FILE *to, const struct cavs__device_texts *of, int item, int number)
{
    char name[32];

    if (item >= of->nprograms) {
        cavs__device_sequence_text(to, of->sequences[item - of->nprograms], number);
        return;
    }
    snprintf(name, sizeof name, "group%d", number);
    cavs__ew_generate(to, &dialect, &of->programs[item]->spec, name);
}

static char *text_of_kernel(const struct cavs__device_texts *of, int item)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    put_kernel(to, of, item, 0);
    if (fclose(to)) {
        free(text);
        return NULL;
    }
    return text;
}

int cavs__device_find_equal(const struct cavs__device_texts *of, int *first)
{
    int n = of->nprograms + of->nsequences, rc = 0;
    char **text = calloc((size_t)n + 1, sizeof *text);

    for (int i = 0; i < n && text && !rc; i++) {
        text[i] = text_of_kernel(of, i);
        rc = text[i] ? 0 : -1;
        for (first[i] = 0; !rc && strcmp(text[first[i]], text[i]) != 0;)
            first[i]++;
    }
    for (int i = 0; i < n && text; i++)
        free(text[i]);
    free(text);
    return text ? rc : -1;
}

static void put_all(FILE *to, const struct cavs__device_texts *of, const int *first)
{
    cavs__ew_generate_preamble(to, &dialect);
    for (int i = 0; i < of->nprograms + of->nsequences; i++)
        if (first[i] == i)
            put_kernel(to, of, i, i < of->nprograms ? i : i - of->nprograms);
}

char *cavs__device_groups_text(const struct cavs__device_texts *of)
{
    int *first = calloc((size_t)(of->nprograms + of->nsequences) + 1, sizeof *first);
    char *text = NULL;
    size_t size;
    FILE *to = first && !cavs__device_find_equal(of, first) ? open_memstream(&text, &size) : NULL;
    bool done = to;

    if (to) {
        put_all(to, of, first);
        done = !fclose(to);
    }
    free(first);
    if (!done) {
        free(text);
        return NULL;
    }
    return text;
}
