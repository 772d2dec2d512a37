/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the text of device kernels: embedded files, and groups from the generator. */
#include <stdlib.h>

#include "codelets/device/device.h"
#include "codelets/device/sequences.h"
#include "codelets/groups/ew_internal.h"
#include "codelets/update.h"

#define CAVS_EW_TEXT(...) #__VA_ARGS__ "\n"

const char cavs__device_kernels_text[] =
#include "codelets/device/dialect.inc"
#include "codelets/groups/ew_math.def"
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
/* products.cl, for tiles of so many rows; see there */
#define CAVS_TILES(name, tile_rows, item_rows, items) \
    "#undef TILED\n"                                  \
    "#undef TILE_ROWS\n"                              \
    "#undef ITEM_ROWS\n"                              \
    "#undef ITEMS\n"                                  \
    "#define TILED(f) f##_" name "\n"                 \
    "#define TILE_ROWS " tile_rows "\n"               \
    "#define ITEM_ROWS " item_rows "\n"               \
    "#define ITEMS " items "\n"
    CAVS_TILES("short", "16", "4", "64")
#include "codelets/device/products.inc"
        CAVS_TILES("tall", "64", "8", "128")
#include "codelets/device/products.inc"
    ;

static const char preamble[] =
#include "codelets/device/dialect.inc"
#include "codelets/device/rows.inc"
    ;

const char *const cavs__device_kernel_names[CAVS__DEVICE_COUNT] = {
#define CAVS__NAME(name) "cavs_" #name,
    CAVS__DEVICE_KERNELS(CAVS__NAME)};

/* An item each number; views are passed as kernels.cl has it. */
static const struct cavs__ew_dialect dialect = {
    .name = "OpenCL and CUDA",
    .preamble = preamble,
    .open = "\nKERNEL(64) $f(GLOBAL const int *index, int rows",
    .body = ")\n{\n"
            "    const long item = (long)GROUP_X * 64 + ITEM;\n"
            "    const int r = (int)(item / $w), c = (int)(item % $w);\n"
            "    if (r < rows) {\n",
    CAVS__DIALECT_OF_A_NUMBER,
    .close = "    }\n}\n",
};

char *cavs__device_groups_text(const struct cavs__device_texts *of)
{
    char *text = NULL, name[32];
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    cavs__ew_generate_preamble(to, &dialect);
    for (int i = 0; i < of->nprograms; i++) {
        snprintf(name, sizeof name, "group%d", i);
        cavs__ew_generate(to, &dialect, &of->programs[i]->spec, name);
    }
    for (int i = 0; i < of->nsequences; i++)
        cavs__device_sequence_text(to, of->sequences[i], i);
    if (fclose(to)) {
        free(text);
        return NULL;
    }
    return text;
}
