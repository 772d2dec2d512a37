/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_generate.c - the source text of a group.
 *
 * One generator for all languages: the nodes are the texts of elementwise.def with the letters
 * replaced, and everything around them comes from a table of templates, the dialect. In the text x3
 * is input 3, n3 is node 3.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "codelets/groups/ew_internal.h"
#include "core/base/points.h"

/* ---- C ---- */

/* What a compiled group sees of its views; the text goes into the source, the struct is checked
 * here. */
#define VIEW              \
    struct view {         \
        float *p;         \
        long ld;          \
        const int *index; \
        const int *ptr;   \
        int cols;         \
    };
#define TEXT(...)    #__VA_ARGS__
#define TEXT_OF(...) TEXT(__VA_ARGS__)

VIEW
#define SAME(member) (offsetof(struct view, member) == offsetof(struct cavs__view, member))
    _Static_assert(sizeof(struct view) == sizeof(struct cavs__view) && SAME(p) && SAME(ld) &&
                       SAME(index),
                   "generated code has its own idea of struct cavs__view");

/* Row pointers are restrict, or gcc gives up on loops with more than ten operands. Partial
 * redundancy elimination and jump threading make branches of clamps: then gcc does not vectorise a
 * loop with several of them, or a single one 15 % worse. */
static const char c_preamble[] =
    "#if defined __GNUC__ && !defined __clang__\n"
    "#pragma GCC optimize(\"no-tree-pre\", \"no-thread-jumps\")\n"
    "#endif\n"
    "#define EW_FN __attribute__((always_inline)) static inline\n"
    "EW_FN unsigned ew_bits(float x) { union { float f; unsigned i; } u; u.f = x; return u.i; }\n"
    "EW_FN float ew_float(unsigned x) { union { float f; unsigned i; } u; u.i = x; return u.f; }\n"
    "EW_FN float ew_sqrt(float x) { return __builtin_sqrtf(x); }\n"
    "EW_FN float ew_abs(float x) { return __builtin_fabsf(x); }\n" TEXT_OF(
        VIEW) "\n"
              "EW_FN const float *row(const struct view *v, int r, const float *zeros)\n"
              "{\n"
              "    if (!v->index)\n"
              "        return v->p + r * v->ld;\n"
              "    return v->index[r] < 0 ? zeros : v->p + v->index[r] * v->ld;\n"
              "}\n"
              "EW_FN void fetch(const float *p)\n"
              "{\n"
              "    for (int i = 0; i < 64; i += 16)\n"
              "        __builtin_prefetch(p + i, 0, 3);\n"
              "}\n"
              "EW_FN void fetch_to_write(float *p)\n"
              "{\n"
              "    for (int i = 0; i < 64; i += 16)\n"
              "        __builtin_prefetch(p + i, 1, 3);\n"
              "}\n";

const struct cavs__ew_dialect cavs__ew_dialect_c = {
    .name = "C",
    .preamble = c_preamble,
    .open = "\nstatic const float $f_zeros[$w];\n"
            "void $f(int rows, const struct view *v",
    .parameter = "",
    .body = ")\n{\n    for (int r = 0; r < rows; r++) {\n",
    .input = "        const float *restrict p$i = row(&v[$i], r, $f_zeros);\n",
    .scalar = "        const float x$i = *row(&v[$i], r, $f_zeros);\n",
    .output = "        float *restrict p$i = v[$i].p + r * v[$i].ld;\n",
    .loop = "        _Pragma(\"omp simd\")\n"
            "        for (int c = 0; c < $w; c++) {\n",
    .vector = CAVS__EW_VECTOR,
    .ragged_loop = "        for (int end = 16; end < $w + 16; end += 16) {\n"
                   "        const int last = end < $w ? end : $w;\n"
                   "        _Pragma(\"omp simd\")\n"
                   "        for (int c = last - 16; c < last; c++) {\n",
    .load = "            const float x$i = p$x[c];\n",
    .load_scalar = "",
    .store = "            p$i[c] = $x;\n",
    .close = "        }\n    }\n}\n",
    .inner_close = "        }\n        }\n    }\n}\n",
    .chunk = 64,
    .far_body = ")\n{\n    for (int r = 0; r < rows; r++) {\n"
                "        const int far = r + $a < rows ? r + $a : r;\n",
    .far_input = "        const float *q$i = row(&v[$i], far, $f_zeros);\n",
    .far_output = "        float *q$i = v[$i].p + far * v[$i].ld;\n",
    .chunk_loop = "        for (int at = 0; at < $w; at += 64) {\n",
    .fetch_input = "        fetch(q$i + at);\n",
    .fetch_output = "        fetch_to_write(q$i + at);\n",
    .far_loop = "        _Pragma(\"omp simd\")\n"
                "        for (int c = at; c < at + 64; c++) {\n",
};

/* ---- the generator ---- */

struct writer {
    FILE *to;
    const char *function;
    int width, at_once;
};

/* How many rows ahead a row is fetched: as far as 2 KB of each operand. */
static int rows_ahead(int width)
{
    return width < 512 ? 512 / width : 1;
}

int cavs__ew_at_once(const struct cavs__ew_spec *spec)
{
    return spec->ninputs <= 8 ? 4 : spec->ninputs <= 16 ? 2 : 1;
}

/* Copies a template. */
static void put(const struct writer *w, const char *text, int i, const char *stored)
{
    for (; *text; text++) {
        if (*text != '$') {
            fputc(*text, w->to);
            continue;
        }
        switch (*++text) {
        case 'f': fputs(w->function, w->to); break;
        case 'w': fprintf(w->to, "%d", w->width); break;
        case 'n': fprintf(w->to, "%d", w->at_once); break;
        case 'a': fprintf(w->to, "%d", rows_ahead(w->width)); break;
        case 'i': fprintf(w->to, "%d", i); break;
        case 'x': fputs(stored, w->to); break;
        }
    }
}

static const char *name_of(char *name, size_t size, int operand)
{
    snprintf(name, size, "%c%d", operand < 0 ? 'x' : 'n', operand < 0 ? ~operand : operand);
    return name;
}

/* Writes a number exactly, in all languages; only C has no spelling for infinities. */
static void put_constant(const struct writer *w, float s)
{
    if (isfinite(s))
        fprintf(w->to, "(%af)", (double)s);
    else
        fprintf(w->to, "ew_float(0x%xu)",
                isnan(s) ? 0x7fc00000u
                : s < 0  ? 0xff800000u
                         : 0x7f800000u);
}

/* Writes the expression with its letters replaced. */
static void put_expression(const struct writer *w, const struct cavs__ew_node *node)
{
    const char *letters = cavs__ew_operands(node->op, node->which);
    const char *text = cavs__ew_text(node->op, node->which);
    char name[16];
    bool letter;

    for (int n; *text; text += n) {
        n = cavs__ew_token(text, &letter);
        if (!letter)
            fprintf(w->to, "%.*s", n, text);
        else if (*text == 's')
            put_constant(w, node->s);
        else
            fputs(name_of(name, sizeof name, node->in[strchr(letters, *text) - letters]), w->to);
    }
}

static void put_node(const struct writer *w, const struct cavs__ew_node *node, int j)
{
    fprintf(w->to, "            const float n%d = ", j);
    if (node->op < 0)
        put_constant(w, node->s);
    else
        put_expression(w, node);
    fputs(";\n", w->to);
}

/* The view in which the input is found: an output that lies over it, since pointers that are
 * restrict must not meet. */
static int view_of_input(const struct cavs__ew_spec *spec, int input)
{
    for (int k = 0; k < spec->noutputs; k++) {
        if (cavs__ew_over(spec, k) == input)
            return spec->ninputs + k;
    }
    return input;
}

static void put_views(const struct writer *w, const struct cavs__ew_dialect *d,
                      const struct cavs__ew_spec *spec)
{
    for (int i = 0; i < spec->ninputs; i++)
        if (view_of_input(spec, i) == i)
            put(w, spec->scalar[i] ? d->scalar : d->input, i, "");
    for (int k = 0; k < spec->noutputs; k++)
        put(w, d->output, spec->ninputs + k, "");
}

static void put_each(const struct writer *w, const struct cavs__ew_spec *spec, const char *input,
                     const char *output)
{
    for (int i = 0; i < spec->ninputs; i++)
        put(w, spec->scalar[i] || view_of_input(spec, i) != i ? "" : input, i, "");
    for (int k = 0; k < spec->noutputs; k++)
        put(w, output, spec->ninputs + k, "");
}

static void generate(FILE *to, const struct cavs__ew_dialect *d, const struct cavs__ew_spec *spec,
                     const char *name)
{
    const struct writer w = {to, name, spec->width, cavs__ew_at_once(spec)};
    bool ragged = d->vector && spec->width > d->vector && spec->width % d->vector;
    bool chunks = d->chunk && spec->width % d->chunk == 0;
    char stored[16];

    put(&w, d->open, 0, "");
    for (int i = 0; i < spec->ninputs + spec->noutputs; i++)
        put(&w, d->parameter, i, "");
    put(&w, chunks ? d->far_body : d->body, 0, "");
    put_views(&w, d, spec);
    if (chunks) {
        put_each(&w, spec, d->far_input, d->far_output);
        put(&w, d->chunk_loop, 0, "");
        put_each(&w, spec, d->fetch_input, d->fetch_output);
    }
    put(&w, chunks ? d->far_loop : ragged ? d->ragged_loop : d->loop, 0, "");
    for (int i = 0; i < spec->ninputs; i++) {
        snprintf(stored, sizeof stored, "%d", view_of_input(spec, i));
        put(&w, spec->scalar[i] ? d->load_scalar : d->load, i, stored);
    }
    for (int j = 0; j < spec->nnodes; j++)
        put_node(&w, &spec->nodes[j], j);
    for (int k = 0; k < spec->noutputs; k++)
        put(&w, d->store, spec->ninputs + k, name_of(stored, sizeof stored, spec->outputs[k]));
    put(&w, chunks || ragged ? d->inner_close : d->close, 0, "");
}

#define CAVS_EW_TEXT(...) #__VA_ARGS__ "\n"
static const char math_text[] =
#include "codelets/kernels/ew_math.def"
    ;

void cavs__ew_generate(FILE *to, const struct cavs__ew_dialect *d, const struct cavs__ew_spec *spec,
                       const char *name)
{
    struct cavs__points points = cavs__points_begin();

    generate(to, d, spec, name);
    cavs__points_end(points);
}

void cavs__ew_generate_preamble(FILE *to, const struct cavs__ew_dialect *d)
{
    fputs(d->preamble, to);
    fputs(math_text, to);
}
