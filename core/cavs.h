/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @mainpage cavs.h
 *
 * The public interface of libcavs: dynamic neural networks on StarPU.
 *
 * A model is declared once and is static; the samples bring the structure.
 *
 *     model     parameters and stages
 *     stage     a set of vertices connected by an input graph G (one graph a sample), and the
 *               vertex functions F that may be chosen for those vertices.  A stage without gather
 *               and scatter (a classifier, a loss) is an ordinary batched dataflow graph over its
 *               vertices.
 *     function  one vertex function F, built from symbols
 *     symbol    one value of F: a row of `width` float32 numbers per vertex, or one int32 id
 *     data      samples in memory: graphs and inputs
 *     session   a model compiled for a runtime: values of the parameters, state of the optimizer,
 *               the execution engine
 *     tape      networks that ordinary code computes, sample by sample, over the parameters of a
 *               session, instead of stages and data
 *     runtime   the StarPU workers
 *
 * The life of these objects: declare the model, call cavs_model_finish(), make data for it, create
 * sessions; destroy them in any order.  Terms follow Xu et al., "Cavs: A Vertex-centric Programming
 * Interface for Dynamic Neural Networks" (arXiv 1712.04048).
 *
 * **Errors.**  Functions that return int give 0 or one of the negative codes of enum cavs_error;
 * cavs_error_message() then holds a sentence that names the operand, the shapes and the place.
 * Functions that build symbols return NULL on misuse; a NULL operand is accepted and passed on, and
 * the first mistake is reported by cavs_function_finish().  The library never exits or aborts
 * because of what its caller did.  What is worth a word and is no error is a notice, see
 * cavs_notice_set_handler().  Out-arguments are set only on success.
 *
 * **Output.**  The library itself prints nothing, and tells StarPU to be silent unless the
 * environment has STARPU_SILENT already.  What the libraries below it say nevertheless goes to
 * stderr.
 *
 * **Threads.**  One thread at a time may use a model and what was made from it: its data, its
 * sessions and their tapes.  The error message is per thread.
 *
 * **Memory.**  A call that runs out of memory gives CAVS_ENOMEM and can be made once more: what it
 * did is undone.  Two cases are different.  A model whose declaration or cavs_model_finish() ran
 * out of memory cannot be finished any more.  And where a batch fails after a part of it was given
 * to the workers, metrics are refused (CAVS_ESTATE) until they are reset; parameters are as they
 * were before that batch.
 *
 * **Processes.**  StarPU's workers do not survive fork(): in a child, calls with a runtime or
 * session of its parent give CAVS_ESTATE.
 *
 * **Ownership.**  Every create function has its destroy function, which accepts NULL.  Destroyed
 * models live on while there are data or sessions of them, runtimes while there are sessions.
 * Parameters, stages, functions and symbols belong to their model.  Names that functions return
 * belong to what they are names of, and are there as long as that is; texts that are to be freed
 * are freed by free().  Strings and arrays passed in are copied unless a declaration says
 * otherwise.
 */
#ifndef CAVS_CAVS_H
#define CAVS_CAVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cavs_model;
struct cavs_param;
struct cavs_stage;
struct cavs_function;
struct cavs_symbol;
struct cavs_data;
struct cavs_packed;
struct cavs_runtime;
struct cavs_session;
struct cavs_model_file;

/* ---- errors ---------------------------------------------------------------------------------- */

/** @defgroup errors Errors and notices
 * @{ */

/** What functions return that fail. */
enum cavs_error {
    CAVS_OK = 0,         /**< nothing failed */
    CAVS_EINVAL = -1,    /**< an argument is out of its range */
    CAVS_ESHAPE = -2,    /**< shapes of operands do not fit */
    CAVS_EPROGRAM = -3,  /**< a vertex function is not well formed (no scatter, ...) */
    CAVS_EGRAPH = -4,    /**< an input graph is cyclic, dangling or has too many children */
    CAVS_EDATA = -5,     /**< an input is missing, of the wrong length or out of range */
    CAVS_ENOMEM = -6,    /**< out of memory; the message says how much was asked for and by what */
    CAVS_EIO = -7,       /**< a file cannot be read or written */
    CAVS_EFORMAT = -8,   /**< a file is not in the expected format; the message says where */
    CAVS_ESTATE = -9,    /**< called in the wrong phase of the object's life */
    CAVS_ERUNTIME = -10, /**< StarPU or a device failed */
    CAVS_ENUMERIC = -11  /**< NaN or infinity found (with the option check_finite) */
};

/** The meaning of a code, a constant string. */
const char *cavs_strerror(int code);
/** What went wrong in the last failing call of this thread; "" if nothing did.  The text is valid
 * until the next failing call. */
const char *cavs_error_message(void);
/** What a program has to say of a code: that message if the last failing call of this thread gave
 * this code; else the code was not the library's, and cavs_strerror(code) is all there is. */
const char *cavs_error_text(int code);

/** Sets who hears of notices: of what goes on otherwise than asked for, and is no error.  Such are
 * fused groups that are interpreted because there is no compiler, devices that are left out, and
 * settings of the environment that mean nothing.
 *
 * The handler gets one line of text without a newline, each once in a process: those given before
 * at once, others as they come, one at a time, from any thread, also while a function of the
 * library runs.  handler NULL: nobody listens.  The text is valid until the process ends. */
void cavs_notice_set_handler(void (*handler)(const char *text, void *context), void *context);

/** The version of the library, "1.2.3". */
const char *cavs_version(void);

/** @} */

/* ---- files that are written ------------------------------------------------------------------ */

/** @defgroup files Files that are written
 *
 * Every file that the library writes under a given name replaces what is there in one step: it is
 * written beside it, flushed and renamed, and keeps the permissions of the old file.  Whatever
 * happens, the old file or the new one is there.  A symbolic link stays, and the file that it leads
 * to is replaced.  Devices and pipes are written into.  A file that is mounted by itself, as
 * containers do, cannot be replaced and is refused: mount its folder.
 * @{ */

/** Whether a file could be written now under this name: 0, or CAVS_EIO with the reason (there is
 * no such folder, no permission, or it is a folder or a mount point).  Nothing is left behind, and
 * a file that is there is not touched.  This is for the start of work whose result goes there. */
int cavs_file_writable(const char *path);

/** A file of the caller's that takes its place in this way. */
struct cavs_file;
/** Begins one: *out is to be closed.  CAVS_EIO or CAVS_ENOMEM if it cannot be written. */
int cavs_file_create(const char *path, struct cavs_file **out);
/** What to write to; it belongs to the file. */
FILE *cavs_file_stream(struct cavs_file *file);
/** What was written so far is on the disk under its name, instead of what was there.  More may be
 * written afterwards, which then goes into the file under that name.  CAVS_EIO: something could not
 * be written; before the first success, what was there stays. */
int cavs_file_commit(struct cavs_file *file);
/** Closes and frees it, NULL is fine.  Without a cavs_file_commit() what was there stays, and what
 * was written is gone, unless it went to a device or a pipe.  CAVS_EIO: something that was written
 * since then may be missing. */
int cavs_file_close(struct cavs_file *file);

/** @} */

/* ---- model: parameters, stages, functions ---------------------------------------------------- */

/** @defgroup model Models: parameters, stages, functions
 * @{ */

/** An empty model. */
int cavs_model_create(struct cavs_model **out);
/** Ends the model; it lives on while there are data or sessions of it. */
void cavs_model_destroy(struct cavs_model *m);
/** Checks everything declared (each function is finished if it was not) and differentiates it.
 * After this the model is immutable.  Reports the first mistake. */
int cavs_model_finish(struct cavs_model *m);

/** The distributions that parameters start with. */
enum cavs_init_kind {
    CAVS_INIT_CONSTANT, /**< all are a */
    CAVS_INIT_UNIFORM,  /**< uniform in [a, b) */
    CAVS_INIT_NORMAL    /**< normal with mean a and deviation b */
};
/** How a parameter starts. */
struct cavs_init {
    enum cavs_init_kind kind; /**< the distribution */
    float a;                  /**< its first number */
    float b;                  /**< its second number */
};
/** All numbers are `value`. */
#define CAVS_CONSTANT(value) ((struct cavs_init){CAVS_INIT_CONSTANT, (value), 0})
/** Uniform in [lo, hi). */
#define CAVS_UNIFORM(lo, hi) ((struct cavs_init){CAVS_INIT_UNIFORM, (lo), (hi)})
/** Normal with this mean and standard deviation. */
#define CAVS_NORMAL(mean, dev) ((struct cavs_init){CAVS_INIT_NORMAL, (mean), (dev)})
/** Glorot's uniform range for a rows x cols matrix: up to sqrt(6 / (rows + cols)) from zero. */
struct cavs_init cavs_init_glorot(int rows, int cols);

/** Declares a parameter: a row-major rows x cols matrix (a bias has one row; an embedding table
 * one row per id).  Names are unique in the model and are the names in model files: UTF-8, and not
 * beginning with "cavs.".  `init` has finite numbers (a constant may be infinite), lo <= hi and a
 * deviation that is not negative.  NULL on misuse, which cavs_model_finish() reports. */
struct cavs_param *cavs_model_param(struct cavs_model *m, const char *name, int rows, int cols,
                                    struct cavs_init init);
/** A frozen parameter gets no gradient and is not updated.  Before cavs_model_finish(). */
void cavs_param_freeze(struct cavs_param *p);
/** The parameter of that name, or NULL. */
struct cavs_param *cavs_model_find_param(const struct cavs_model *m, const char *name);
/** How many parameters there are. */
int cavs_model_param_count(const struct cavs_model *m);
/** The parameter with that number, in the order of declaration from 0 on, or NULL. */
struct cavs_param *cavs_model_param_at(const struct cavs_model *m, int i);
/** The name of a parameter. */
const char *cavs_param_name(const struct cavs_param *p);
/** The rows of a parameter. */
int cavs_param_rows(const struct cavs_param *p);
/** The columns of a parameter. */
int cavs_param_cols(const struct cavs_param *p);

/** A stage whose samples bring their own graph.  state_width says how many numbers a vertex
 * scatters to its parents: 0 for a stage whose functions neither gather nor scatter.  Names are
 * unique in the model.  NULL on misuse, which cavs_model_finish() reports. */
struct cavs_stage *cavs_stage_create(struct cavs_model *m, const char *name, int state_width);
/** The vertices that a stage stands over. */
enum cavs_over {
    CAVS_ALL_VERTICES, /**< every vertex */
    CAVS_ROOTS         /**< every vertex without parents */
};
/** A stage without edges that has one vertex for each of these vertices of `base`, in the same
 * order.  It needs no graph and has one function.  NULL as above. */
struct cavs_stage *cavs_stage_over(struct cavs_model *m, const char *name, struct cavs_stage *base,
                                   enum cavs_over which);

/** A vertex function of the stage, whose name is unique there.  Graphs name it by its number: 0 for
 * the first function of the stage, then 1, and so on.  NULL on misuse, which cavs_model_finish()
 * reports. */
struct cavs_function *cavs_function_create(struct cavs_stage *stage, const char *name);
/** The number of a function in its stage. */
int cavs_function_number(const struct cavs_function *f);
/** The name of a function. */
const char *cavs_function_name(const struct cavs_function *f);
/** Ends the declaration and reports the first mistake in it: the operator, the shapes, and where
 * it was called. */
int cavs_function_finish(struct cavs_function *f);

/** How many stages have been declared. */
int cavs_model_stage_count(const struct cavs_model *m);
/** The stage with that number, in the order of declaration from 0 on, or NULL. */
struct cavs_stage *cavs_model_stage_at(const struct cavs_model *m, int i);
/** The stage of that name, or NULL. */
struct cavs_stage *cavs_model_find_stage(const struct cavs_model *m, const char *name);
/** The name of a stage. */
const char *cavs_stage_name(const struct cavs_stage *s);
/** The width of what its vertices scatter. */
int cavs_stage_state_width(const struct cavs_stage *s);
/** How many functions the stage has. */
int cavs_stage_function_count(const struct cavs_stage *s);
/** The function with that number, or NULL. */
struct cavs_function *cavs_stage_function_at(const struct cavs_stage *s, int i);
/** How many channels the functions of the stage push on. */
int cavs_stage_channel_count(const struct cavs_stage *s);
/** The name of the channel with that number; NULL if there is none. */
const char *cavs_stage_channel_at(const struct cavs_stage *s, int i);
/** The width of the channel's rows; 0 if there is no channel of that name. */
int cavs_channel_width(const struct cavs_stage *s, const char *channel);

/** @} */

/* ---- symbols --------------------------------------------------------------------------------- */

/** @defgroup symbols Symbols
 *
 * Every operator is a macro that notes where it was called.  x, y, a, b are symbols of one
 * function; w(x) is the width of x.  Element-wise operators take operands of equal width, or one of
 * width 1, which is repeated.
 *
 * **Ragged lists** are symbols with a row for each child of a vertex, however many there are, or
 * for each entry of another list that every vertex has.  All operators work on such rows, too.  An
 * element-wise operator or concatenation that joins them with a symbol of one row per vertex
 * repeats the vertex's row for each of its entries; scatter, push and metrics take rows of
 * vertices.  A function may read its children by number (cavs_gather()), all alike, or both.  If it
 * does not read them by number alone, a vertex may have any number of children.
 * @{ */

/** A place in a program, for messages.  The library keeps the pointer to the name of the file. */
struct cavs_place {
    const char *file; /**< name of the source file */
    int line;         /**< number of the line */
};
/** The place where this stands. */
#ifdef __cplusplus
#define CAVS_HERE (cavs_place{__FILE__, __LINE__})
#else
#define CAVS_HERE ((struct cavs_place){__FILE__, __LINE__})
#endif

/* inputs */

/** A row of floats per vertex, from the sample's input of that name. */
#define cavs_pull(f, name, width) cavs_pull_at((f), (name), (width), CAVS_HERE)
/** An int32 id per vertex, from the sample's input of that name. */
#define cavs_pull_ids(f, name) cavs_pull_ids_at((f), (name), CAVS_HERE)
/** The row that `channel` of an earlier stage holds for the vertex that the id input `index` names
 * (by its number in the same sample; -1 reads zeros).  index NULL: for the vertex that this one
 * stands over (cavs_stage_over()). */
#define cavs_pull_from(f, stage, channel, index) \
    cavs_pull_from_at((f), (stage), (channel), (index), CAVS_HERE)
/** A parameter of one row, the same for all vertices. */
#define cavs_use(f, param) cavs_use_at((f), (param), CAVS_HERE)
/** `width` times the number `value`. */
#define cavs_constant(f, width, value) cavs_constant_at((f), (width), (value), CAVS_HERE)

/* the graph */

/** The state of child k; zeros if that is missing. */
#define cavs_gather(f, k) cavs_gather_at((f), (k), CAVS_HERE)
/** Makes x the state of the vertex, which its parents gather.  Once in a function; w(x) is the
 * stage's width. */
#define cavs_scatter(f, x) cavs_scatter_at((f), (x), CAVS_HERE)
/** Shows x to later stages and to outputs, by the name of a channel. */
#define cavs_push(f, channel, x) cavs_push_at((f), (channel), (x), CAVS_HERE)

/* ragged lists */

/** The states of all children; zeros for a child -1. */
#define cavs_each_child(f) cavs_each_child_at((f), CAVS_HERE)
/** A row of floats per child, from the sample's input of that name. */
#define cavs_pull_edge(f, name, width) cavs_pull_edge_at((f), (name), (width), CAVS_HERE)
/** An int32 id per child, from the sample's input of that name. */
#define cavs_pull_edge_ids(f, name) cavs_pull_edge_ids_at((f), (name), CAVS_HERE)
/** A list of ids per vertex, from the sample's input of that name: the entries. */
#define cavs_pull_list_ids(f, name) cavs_pull_list_ids_at((f), (name), CAVS_HERE)
/** The rows that `channel` of an earlier stage holds for the vertices that the list of ids `list`
 * names (as in cavs_pull_from(); the same list as in cavs_pull_list_ids()).  list NULL: for all
 * vertices of the same sample, in order. */
#define cavs_pull_from_each(f, stage, channel, list) \
    cavs_pull_from_each_at((f), (stage), (channel), (list), CAVS_HERE)
/** The sum over the children or entries of each vertex; zeros for a vertex without any. */
#define cavs_sum_children(x) cavs_sum_children_at((x), CAVS_HERE)
/** The mean over the children or entries of each vertex; zeros for a vertex without any. */
#define cavs_mean_children(x) cavs_mean_children_at((x), CAVS_HERE)
/** The largest number of each column over the children or entries of each vertex, zeros for a
 * vertex without any; the gradient goes to the first that is largest. */
#define cavs_max_children(x) cavs_max_children_at((x), CAVS_HERE)
/** Softmax over the children or entries of each vertex, column by column.  Attention is
 * cavs_sum_children(cavs_mul(cavs_softmax_children(score), value)). */
#define cavs_softmax_children(x) cavs_softmax_children_at((x), CAVS_HERE)

/* parameters */

/** Row ids[v] of the table; zeros for the id -1. */
#define cavs_lookup(table, ids) cavs_lookup_at((table), (ids), CAVS_HERE)
/** x W; the shape of W is w(x) x n. */
#define cavs_matmul(x, W) cavs_matmul_at((x), (W), CAVS_HERE)
/** x W^T; the shape of W is n x w(x): the scores of x against the n rows of W.  W may be looked up,
 * too (tied weights): its gradient is then the sum of both, and all its rows are updated. */
#define cavs_matmul_t(x, W) cavs_matmul_t_at((x), (W), CAVS_HERE)
/** x W + b; the shape of b is 1 x n. */
#define cavs_affine(x, W, b) cavs_affine_at((x), (W), (b), CAVS_HERE)
/** x times block ids[r] of W, whose nselect blocks of w(x) rows lie below one another; zeros for
 * the id -1.  For parameters that depend on a relation, a label, a language. */
#define cavs_matmul_select(x, W, nselect, ids) \
    cavs_matmul_select_at((x), (W), (nselect), (ids), CAVS_HERE)

/* products of two symbols, whose rows are read as row-major matrices */

/** The sum of a times b over the columns, of equal width; width 1.  The scores of a list against a
 * query are cavs_dot(keys, query). */
#define cavs_dot(a, b) cavs_dot_at((a), (b), CAVS_HERE)
/** The outer product: a w(a) x w(b) matrix, row by row. */
#define cavs_outer(a, b) cavs_outer_at((a), (b), CAVS_HERE)
/** A B, a rows x cols matrix: A has `rows` rows and B `cols` columns; the widths say how many
 * columns A has, and rows B. */
#define cavs_product(a, b, rows, cols) cavs_product_at((a), (b), (rows), (cols), 0, CAVS_HERE)
/** A^T B, in the same way: A has `rows` columns, B has `cols`. */
#define cavs_product_tn(a, b, rows, cols) cavs_product_at((a), (b), (rows), (cols), 1, CAVS_HERE)
/** A B^T, in the same way: A has `rows` rows, B has `cols`. */
#define cavs_product_nt(a, b, rows, cols) cavs_product_at((a), (b), (rows), (cols), 2, CAVS_HERE)

/* element-wise operators; codelets/groups/elementwise.def has the table */

/** The operator of one operand with that name; s is its attribute, which many do not read. */
#define cavs_apply1(op, a, s) cavs_apply1_at((op), (a), (s), CAVS_HERE)
/** The operator of two operands with that name. */
#define cavs_apply2(op, a, b) cavs_apply2_at((op), (a), (b), CAVS_HERE)
/** a + b. */
#define cavs_add(a, b) cavs_add_at((a), (b), CAVS_HERE)
/** a - b. */
#define cavs_sub(a, b) cavs_sub_at((a), (b), CAVS_HERE)
/** a times b, column by column. */
#define cavs_mul(a, b) cavs_mul_at((a), (b), CAVS_HERE)
/** a / b. */
#define cavs_div(a, b) cavs_div_at((a), (b), CAVS_HERE)
/** The negative of a. */
#define cavs_neg(a) cavs_neg_at((a), 0, CAVS_HERE)
/** s times a. */
#define cavs_scale(a, s) cavs_scale_at((a), (s), CAVS_HERE)
/** a + s. */
#define cavs_shift(a, s) cavs_shift_at((a), (s), CAVS_HERE)
/** 1 / (1 + e^-a). */
#define cavs_sigmoid(a) cavs_sigmoid_at((a), 0, CAVS_HERE)
/** tanh(a). */
#define cavs_tanh(a) cavs_tanh_at((a), 0, CAVS_HERE)
/** a, or 0 where a is negative. */
#define cavs_relu(a) cavs_relu_at((a), 0, CAVS_HERE)
/** e^a. */
#define cavs_exp(a) cavs_exp_at((a), 0, CAVS_HERE)
/** The natural logarithm. */
#define cavs_log(a) cavs_log_at((a), 0, CAVS_HERE)
/** a times a. */
#define cavs_square(a) cavs_square_at((a), 0, CAVS_HERE)
/** The larger one of both; the gradient of equal ones goes to b. */
#define cavs_max(a, b) cavs_max_at((a), (b), CAVS_HERE)
/** The smaller one of both; the gradient of equal ones goes to b. */
#define cavs_min(a, b) cavs_min_at((a), (b), CAVS_HERE)
/** The absolute value. */
#define cavs_abs(a) cavs_abs_at((a), 0, CAVS_HERE)
/** The square root. */
#define cavs_sqrt(a) cavs_sqrt_at((a), 0, CAVS_HERE)
/** a, cut off at -s and s. */
#define cavs_clip(a, s) cavs_clip_at((a), (s), CAVS_HERE)
/** a, or s a where a is negative. */
#define cavs_leaky_relu(a, s) cavs_leaky_relu_at((a), (s), CAVS_HERE)
/** a, or s (e^a - 1) where a is negative. */
#define cavs_elu(a, s) cavs_elu_at((a), (s), CAVS_HERE)
/** log(1 + e^a). */
#define cavs_softplus(a) cavs_softplus_at((a), 0, CAVS_HERE)
/** a sigmoid(a). */
#define cavs_silu(a) cavs_silu_at((a), 0, CAVS_HERE)
/** GELU in the approximation by tanh. */
#define cavs_gelu(a) cavs_gelu_at((a), 0, CAVS_HERE)
/** a, through which no gradient passes: what a is made of is trained by what else reads it. */
#define cavs_stop_gradient(a) cavs_stop_gradient_at((a), 0, CAVS_HERE)

/* shapes, and reductions over the width */

/** n symbols of an array side by side, n at least 1. */
#define cavs_concat(n, xs) cavs_concat_at((n), (xs), CAVS_HERE)
/** `width` columns of x, the first of them number `from`. */
#define cavs_slice(x, from, width) cavs_slice_at((x), (from), (width), CAVS_HERE)
/** n equal slices of x, into out[0] to out[n-1]; NULLs on misuse. */
#define cavs_split(x, n, out) cavs_split_at((x), (n), (out), CAVS_HERE)
/** The sum of a row; width 1. */
#define cavs_sum(x) cavs_sum_at((x), CAVS_HERE)
/** The mean of a row; width 1. */
#define cavs_mean(x) cavs_mean_at((x), CAVS_HERE)
/** The largest number of a row; width 1.  The gradient goes to the first that is largest. */
#define cavs_largest(x) cavs_largest_at((x), CAVS_HERE)
/** Entry ids[v] of a row, 0 for the id -1; width 1. */
#define cavs_pick(x, ids) cavs_pick_at((x), (ids), CAVS_HERE)
/** Softmax over the width, safe for any finite x. */
#define cavs_softmax(x) cavs_softmax_at((x), CAVS_HERE)
/** The logarithm of softmax over the width, safe for any finite x. */
#define cavs_log_softmax(x) cavs_log_softmax_at((x), CAVS_HERE)
/** (x - mean) / sqrt(variance + 1e-5) over the width, times `gain`, plus `bias`: parameters of
 * shape 1 x w(x), or NULL. */
#define cavs_layer_norm(x, gain, bias) cavs_layer_norm_at((x), (gain), (bias), CAVS_HERE)
/** x / sqrt(mean of the squares + 1e-5) over the width, times `gain`: a parameter of shape
 * 1 x w(x), or NULL. */
#define cavs_rms_norm(x, gain) cavs_rms_norm_at((x), (gain), CAVS_HERE)
/** In training each number is 0 with probability `rate`, or else divided by 1 - rate; in
 * evaluation, output and inference it is x itself.
 *
 * Which are 0 follows from the session's seed, the number of updates so far, the place of the
 * sample in its batch, of the vertex in its sample and of the number in its row, and from which
 * call of cavs_dropout() in the model it is: not from workers, shards or what ran before.  So the
 * backward pass, and cavs_session_gradient() until the next update, see the same zeros.  Equal
 * vertices of a stage with dropout are not shared in training. */
#define cavs_dropout(x, rate) cavs_dropout_at((x), (rate), CAVS_HERE)

/* losses: width 1 */

/** Minus log softmax(logits)[label]; 0 for the label -1. */
#define cavs_softmax_cross_entropy(logits, labels) \
    cavs_softmax_cross_entropy_at((logits), (labels), CAVS_HERE)
/** The sum of (a - b)^2 / 2. */
#define cavs_squared_error(a, b) cavs_squared_error_at((a), (b), CAVS_HERE)
/** The sum of the absolute values of a - b. */
#define cavs_absolute_error(a, b) cavs_absolute_error_at((a), (b), CAVS_HERE)
/** The sum of d^2 / 2 where the absolute value of d = a - b is at most s, and of s times (that
 * value less s / 2) elsewhere; s is positive. */
#define cavs_huber_error(a, b, s) cavs_huber_error_at((a), (b), (s), CAVS_HERE)
/** The sum of -t log p - (1-t) log(1-p) with p = sigmoid(logits): truths t from 0 to 1, any
 * finite logits. */
#define cavs_binary_cross_entropy(logits, t) cavs_binary_cross_entropy_at((logits), (t), CAVS_HERE)
/** The sum of max(0, margin + x[j] - x[label]) over all j but the label; 0 for the label -1 where
 * x is finite. */
#define cavs_hinge(x, labels, margin) cavs_hinge_at((x), (labels), (margin), CAVS_HERE)
/** 1 if the label has the largest logit, else 0, as where a logit is NaN; without a gradient. */
#define cavs_correct(logits, labels) cavs_correct_at((logits), (labels), CAVS_HERE)

/* what is summed up over a batch */

/** A metric that is also differentiated: training makes the sum of all losses smaller. */
#define cavs_loss(f, name, x, where) cavs_metric_at((f), (name), (x), (where), true, CAVS_HERE)
/** Sums x (of width 1) over all vertices of a batch under a name.  A vertex is counted where
 * `where` (ids, or NULL for all vertices) is not negative.  What several calls give under one name,
 * also losses and metrics, is added up to one sum and one count. */
#define cavs_metric(f, name, x, where) cavs_metric_at((f), (name), (x), (where), false, CAVS_HERE)

/* The functions behind these macros, for bindings of other languages: the last argument is the
 * place of the call. */

/** @cond */
struct cavs_symbol *cavs_pull_at(struct cavs_function *f, const char *name, int width,
                                 struct cavs_place at);
struct cavs_symbol *cavs_pull_ids_at(struct cavs_function *f, const char *name,
                                     struct cavs_place at);
struct cavs_symbol *cavs_pull_from_at(struct cavs_function *f, struct cavs_stage *stage,
                                      const char *channel, const char *index, struct cavs_place at);
struct cavs_symbol *cavs_use_at(struct cavs_function *f, struct cavs_param *p,
                                struct cavs_place at);
struct cavs_symbol *cavs_constant_at(struct cavs_function *f, int width, float value,
                                     struct cavs_place at);
struct cavs_symbol *cavs_gather_at(struct cavs_function *f, int k, struct cavs_place at);
struct cavs_symbol *cavs_each_child_at(struct cavs_function *f, struct cavs_place at);
struct cavs_symbol *cavs_pull_edge_at(struct cavs_function *f, const char *name, int width,
                                      struct cavs_place at);
struct cavs_symbol *cavs_pull_edge_ids_at(struct cavs_function *f, const char *name,
                                          struct cavs_place at);
struct cavs_symbol *cavs_pull_list_ids_at(struct cavs_function *f, const char *name,
                                          struct cavs_place at);
struct cavs_symbol *cavs_pull_from_each_at(struct cavs_function *f, struct cavs_stage *stage,
                                           const char *channel, const char *list,
                                           struct cavs_place at);
struct cavs_symbol *cavs_sum_children_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_mean_children_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_max_children_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_softmax_children_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_matmul_select_at(struct cavs_symbol *x, struct cavs_param *w, int nselect,
                                          struct cavs_symbol *ids, struct cavs_place at);
struct cavs_symbol *cavs_dot_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_outer_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                  struct cavs_place at);
struct cavs_symbol *cavs_product_at(struct cavs_symbol *a, struct cavs_symbol *b, int rows,
                                    int cols, int transposed, struct cavs_place at);
void cavs_scatter_at(struct cavs_function *f, struct cavs_symbol *x, struct cavs_place at);
void cavs_push_at(struct cavs_function *f, const char *channel, struct cavs_symbol *x,
                  struct cavs_place at);
struct cavs_symbol *cavs_lookup_at(struct cavs_param *table, struct cavs_symbol *ids,
                                   struct cavs_place at);
struct cavs_symbol *cavs_matmul_at(struct cavs_symbol *x, struct cavs_param *w,
                                   struct cavs_place at);
struct cavs_symbol *cavs_matmul_t_at(struct cavs_symbol *x, struct cavs_param *w,
                                     struct cavs_place at);
struct cavs_symbol *cavs_affine_at(struct cavs_symbol *x, struct cavs_param *w,
                                   struct cavs_param *b, struct cavs_place at);
struct cavs_symbol *cavs_apply1_at(const char *op, struct cavs_symbol *a, float s,
                                   struct cavs_place at);
struct cavs_symbol *cavs_apply2_at(const char *op, struct cavs_symbol *a, struct cavs_symbol *b,
                                   struct cavs_place at);
/* All of codelets/groups/elementwise.def; of those with one operand, s is read where the macro has
 * it. */
struct cavs_symbol *cavs_add_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_sub_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_mul_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_div_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_max_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_min_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at);
struct cavs_symbol *cavs_neg_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_scale_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_shift_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_sigmoid_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_tanh_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_relu_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_exp_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_log_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_square_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_abs_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_sqrt_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_clip_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_leaky_relu_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_elu_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_softplus_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_silu_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_gelu_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_stop_gradient_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_copy_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_huber_at(struct cavs_symbol *a, float s, struct cavs_place at);
struct cavs_symbol *cavs_logit_cross_entropy_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                                struct cavs_place at);
struct cavs_symbol *cavs_concat_at(int n, struct cavs_symbol *const *xs, struct cavs_place at);
struct cavs_symbol *cavs_slice_at(struct cavs_symbol *x, int from, int width, struct cavs_place at);
void cavs_split_at(struct cavs_symbol *x, int n, struct cavs_symbol **out, struct cavs_place at);
struct cavs_symbol *cavs_sum_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_mean_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_largest_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_pick_at(struct cavs_symbol *x, struct cavs_symbol *ids,
                                 struct cavs_place at);
struct cavs_symbol *cavs_softmax_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_log_softmax_at(struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_layer_norm_at(struct cavs_symbol *x, struct cavs_param *gain,
                                       struct cavs_param *bias, struct cavs_place at);
struct cavs_symbol *cavs_rms_norm_at(struct cavs_symbol *x, struct cavs_param *gain,
                                     struct cavs_place at);
struct cavs_symbol *cavs_dropout_at(struct cavs_symbol *x, float rate, struct cavs_place at);
struct cavs_symbol *cavs_softmax_cross_entropy_at(struct cavs_symbol *logits,
                                                  struct cavs_symbol *labels, struct cavs_place at);
struct cavs_symbol *cavs_squared_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                          struct cavs_place at);
struct cavs_symbol *cavs_absolute_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                           struct cavs_place at);
struct cavs_symbol *cavs_huber_error_at(struct cavs_symbol *a, struct cavs_symbol *b, float s,
                                        struct cavs_place at);
struct cavs_symbol *cavs_binary_cross_entropy_at(struct cavs_symbol *logits,
                                                 struct cavs_symbol *truths, struct cavs_place at);
struct cavs_symbol *cavs_hinge_at(struct cavs_symbol *x, struct cavs_symbol *labels, float margin,
                                  struct cavs_place at);
struct cavs_symbol *cavs_correct_at(struct cavs_symbol *logits, struct cavs_symbol *labels,
                                    struct cavs_place at);
void cavs_metric_at(struct cavs_function *f, const char *name, struct cavs_symbol *x,
                    struct cavs_symbol *where, bool is_loss, struct cavs_place at);
/** @endcond */

/** The width of a symbol; 0 for NULL and for ids. */
int cavs_symbol_width(const struct cavs_symbol *x);

/** @} */

/* ---- data: samples in memory ----------------------------------------------------------------- */

/** @defgroup data Data: samples in memory
 * @{ */

/** Data without samples for a model that is finished. */
int cavs_data_create(const struct cavs_model *finished_model, struct cavs_data **out);
/** Ends the data. */
void cavs_data_destroy(struct cavs_data *d);
/** Begins a sample: then come its graphs and inputs in any order, then cavs_data_end().  A sample
 * becomes part of the data only when that returns 0; after an error the data are as they were
 * before the sample was begun. */
int cavs_data_begin(struct cavs_data *d);
/** The graph of the sample for a stage, with n >= 0 vertices.  functions[v] is the number of the
 * vertex function of v (functions NULL: all are 0).  The children of v are children[child_ptr[v]]
 * to children[child_ptr[v+1] - 1] in order, each the number of a vertex or -1 for a missing child
 * (child_ptr NULL: no edges).  Any order of vertices is accepted; a cycle is refused with a vertex
 * of it named.  More vertices, edges or values of an input than 536870911 in a stage of a sample
 * are refused: no batch could have them. */
int cavs_data_graph(struct cavs_data *d, const struct cavs_stage *stage, int n,
                    const int *functions, const int *child_ptr, const int *children);
/** One id for every vertex of the stage (n = number of its vertices; those for vertices whose
 * function does not pull the input are ignored), or only for those whose function pulls it, in
 * order (n = their number).  An input that no vertex of the sample pulls may be left out.  All
 * functions of a stage that pull an input share it. */
int cavs_data_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                  const int *ids);
/** One row of the pulled width for each of these vertices. */
int cavs_data_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                   const float *rows);
/** One id for each entry of the array children that cavs_data_graph() was given, in its order, or
 * only for the children of vertices whose function pulls the input. */
int cavs_data_edge_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                       int nedges, const int *ids);
/** One row of the pulled width for each of these children. */
int cavs_data_edge_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                        int nedges, const float *rows);
/** A list of ids for each of n vertices (as for cavs_data_ids()): that of the v-th one is
 * ids[ptr[v]] to ids[ptr[v+1] - 1], with ptr[0] = 0. */
int cavs_data_ragged_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                         int n, const int *ptr, const int *ids);
/** Ends a sample, and checks it. */
int cavs_data_end(struct cavs_data *d);

/** The number of samples. */
int cavs_data_size(const struct cavs_data *d);
/** The number of vertices of a stage in all samples. */
int64_t cavs_data_vertices(const struct cavs_data *d, const struct cavs_stage *stage);
/** A number that is the same for the same samples and, but for chance, for no others: graphs and
 * inputs as they are now, on this kind of machine.  For packed data that are opened, it is the
 * number of the file. */
int cavs_data_fingerprint(const struct cavs_data *d, uint64_t *out);
/** The vertices of a stage in one sample, or with sample = cavs_data_size() in the one being
 * added: there it is 0 before cavs_data_graph() has been called for the stage, or for the one that
 * it stands over (so how many roots there are need not be counted).  0 if there is no such sample
 * or stage. */
int cavs_data_sample_vertices(const struct cavs_data *d, const struct cavs_stage *stage,
                              int sample);
/** The vertices of a stage in n samples together: so many rows of a channel they give. */
int64_t cavs_data_batch_vertices(const struct cavs_data *d, const struct cavs_stage *stage,
                                 const int *samples, int n);
/** The stored ids of one sample, per edge or entry or per vertex (of all vertices, also where ids
 * were given only for those that pull them), to be rewritten in place between batches.  NULL if
 * there is no such input.  Bounds of new values are checked when the sample is used. */
int *cavs_data_sample_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                          int sample);
/** Copies the same to ids, which has room for so many.  How many there are, or an error code:
 * CAVS_EINVAL if there is no such input or too little room.  Of large packed data nothing stays in
 * memory by that. */
int cavs_data_copy_ids(const struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                       int sample, int room, int *ids);

/** @} */

/* ---- packed data: samples in a file that is used as it lies ---------------------------------- */

/** @defgroup packed Packed data: samples in a file that is used as it lies
 *
 * A packed file holds the numbers of samples as they stand in memory, sample by sample
 * (doc/packed-format.md); one of an earlier version of the format is refused, and has to be packed
 * again.  Opened, it is mapped and not read: pages come when batches touch
 * them, so the samples may be larger than memory, and nothing is parsed.  Of a file of more than
 * 64 MB samples are copied when a batch has them: what the process has of it in memory are the
 * numbers that say how large each sample is, unless cavs_data_sample_ids() was called.
 * @{ */

/** Data whose samples go to a file: they are added with cavs_data_begin() to cavs_data_end() as
 * always, but collect in temporary files beside `path`, not in memory.  They can be trained on
 * meanwhile.  Names of stages, functions and inputs are UTF-8 then. */
int cavs_data_pack(const struct cavs_model *finished_model, const char *path,
                   struct cavs_data **out);
/** Keeps n bytes under a name (UTF-8) in the file, a vocabulary for example; the same name replaces
 * them. */
int cavs_data_note(struct cavs_data *d, const char *name, const void *bytes, size_t n);
/** Completes the file, which then replaces `path` in one step.  More samples may follow, for
 * another cavs_data_write().  Without a successful call `path` is as it was. */
int cavs_data_write(struct cavs_data *d);

/** Samples from a packed file for a model.  Every stage of the model has to be there by name,
 * standing over the same stage, with as many functions (functions go by number) and with all
 * inputs of the model by name, kind and width; what else is in the file is ignored.
 *
 * Sizes are checked now, a sample's graph and ids when it is used first.  Samples cannot be added;
 * what is written through cavs_data_sample_ids() does not reach the file.  The file must not be
 * shortened while it is open: the next batch fails then (CAVS_EIO), but if a batch is under way,
 * the system ends the program (SIGBUS). */
int cavs_data_open(const struct cavs_model *finished_model, const char *path,
                   struct cavs_data **out);

/** Opens a packed file by itself, to ask what is in it before there is a model.  CAVS_EFORMAT with
 * the reason if it is truncated, damaged or something else. */
int cavs_packed_open(const char *path, struct cavs_packed **out);
/** Ends the use of the file, and of all texts and bytes that it gave. */
void cavs_packed_close(struct cavs_packed *p);
/** The number of samples. */
int cavs_packed_size(const struct cavs_packed *p);
/** How many functions the stage has; -1 if there is no such stage. */
int cavs_packed_functions(const struct cavs_packed *p, const char *stage);
/** The name of a function of the stage; NULL if there is no such stage or function. */
const char *cavs_packed_function(const struct cavs_packed *p, const char *stage, int function);
/** The bytes kept under a name, until cavs_packed_close(); NULL if there are none. */
const void *cavs_packed_note(const struct cavs_packed *p, const char *name, size_t *n);
/** A text, to be freed by the caller: samples, stages with their functions and inputs, notes,
 * sizes. */
int cavs_packed_describe(const struct cavs_packed *p, char **text);
/** Reads the whole file and compares it with the checksums in it. */
int cavs_packed_verify(const struct cavs_packed *p);

/** @} */

/* ---- runtime --------------------------------------------------------------------------------- */

/** @defgroup runtime Runtimes
 * @{ */

/** What a runtime works with. */
struct cavs_runtime_options {
    /** CPU workers; -1: one per core, less one for each device and, where there are devices, one
     * for the thread that calls */
    int workers;
    /** CUDA devices; -1: all that can be used, 0: none.  One that cannot be used is a notice, and
     * the run goes on without it. */
    int cuda;
    int opencl; /**< OpenCL devices, in the same way */
    /** CUDA devices may round operands of products to TF32, which is faster: 11 significant bits,
     * some three digits. */
    bool tf32;
    /** StarPU's policy by name, one of cavs_scheduler_name().  NULL: lws, prio from 32 CPU workers
     * on; dmdas with devices. */
    const char *scheduler;
    /** A new or empty folder for a trace of this run, see cavs_runtime_destroy(); NULL: none. */
    const char *trace;
    /** A device that was asked for and cannot be used (with -1: none found) is CAVS_ERUNTIME, here
     * or where a session finds that it cannot build its kernels. */
    bool require;
    /** A batch that is worth less than waking a worker is computed by the calling thread, while the
     * workers sleep (starpu_pause()) until there is more.  With this it is left to them, too: for
     * programs that submit tasks of their own to StarPU.  Where StarPU runs already when the
     * runtime is created, this is how it is. */
    bool leave_to_workers;
    /** The processes that train together, see @ref ranks; an MPI_Comm *, of an MPI that runs
     * already, with MPI_THREAD_MULTIPLE if they are several; NULL: all that mpirun has started, or
     * this one alone. */
    const void *communicator;
};
/** The options that cavs_runtime_create() takes for NULL. */
#define CAVS_RUNTIME_DEFAULTS ((struct cavs_runtime_options){.workers = -1})

/** Starts StarPU's workers; there is one runtime at a time in a process.  options NULL: the
 * defaults.
 *
 * StarPU keeps performance models in the folder .starpu of $XDG_CACHE_HOME, $STARPU_HOME or $HOME;
 * if none of them can be written, in a private folder in $TMPDIR that goes with the runtime.  A
 * $STARPU_HOME or $STARPU_PERF_MODEL_DIR that is needed and cannot be written is CAVS_ERUNTIME. */
int cavs_runtime_create(const struct cavs_runtime_options *options, struct cavs_runtime **out);
/** Stops the workers.
 *
 * Where a trace was asked for, its folder then has what StarPU recorded, the file trace.fxt, or of
 * several ranks trace.fxt_RANK, each on its own machine; the program `cavs-trace FOLDER` makes the
 * rest of it: StarPU's paje.trace, dag.dot, tasks.rec and others, and a summary as text and
 * picture, summary.txt and gantt.svg.
 *
 * Returns 0, or why there is no trace; rt is gone in any case.  While there are sessions, it
 * returns CAVS_ESTATE, and all this happens with the last of them (a trace that is missing is then
 * a notice). */
int cavs_runtime_destroy(struct cavs_runtime *rt);
/** Whether StarPU can trace: it was built with FxT. */
bool cavs_runtime_can_trace(void);
/** The number of all workers of this process, devices included. */
int cavs_runtime_workers(const struct cavs_runtime *rt);
/** The name of StarPU's policy. */
const char *cavs_runtime_scheduler(const struct cavs_runtime *rt);
/** What a scheduling policy that this StarPU has is called ("lws"), by numbers from 0; NULL: there
 * is none of that number. */
const char *cavs_scheduler_name(int scheduler);

/** @anchor ranks Several processes may train together, the ranks of an MPI communicator: each works
 * on some shards of every batch, and all have all parameters, which stay the same to the last bit;
 * so do results, for one number of shards, whatever the number of ranks.  All ranks make the same
 * calls of the library in the same order with the same arguments: sessions are made, batches run,
 * metrics and outputs read and files written together.  A session that is not the same everywhere
 * is refused; so is the next batch after parameters were given other values on one rank, or a
 * session another learning rate.  Files of models are written by rank 0.  An error that one has,
 * all have, unless it is in a call that is made for one process only, or memory runs out while a
 * batch is submitted; then cavs_runtime_abort() ends the others, which would wait for this one.  A
 * rank that dies or says nothing for some seconds ends all.
 *
 * The number of this process among the ranks, 0 if it is alone; how many there are. */
int cavs_runtime_rank(const struct cavs_runtime *rt);
/** How many ranks there are; 1 if the process is alone. */
int cavs_runtime_ranks(const struct cavs_runtime *rt);
/** 0 if `value` is the same on all ranks; else CAVS_EINVAL on all, and the message says what it is
 * on two of them.  CAVS_ESTATE if a rank makes another call. */
int cavs_runtime_same(struct cavs_runtime *rt, const char *what, const char *value);
/** The outcome of something that ranks have done each by itself: rc of the first with a negative
 * one, with its message, on all; else 0. */
int cavs_runtime_agree(struct cavs_runtime *rt, int rc);
/** Bits that this rank wants all to know: what all have raised is there after the next batch, on
 * all alike.  Signals and clocks are one rank's own; what follows from them has to be the same. */
void cavs_runtime_raise(struct cavs_runtime *rt, unsigned bits);
/** What any rank had raised before the last batch, and before earlier ones, since the last call. */
unsigned cavs_runtime_raised(struct cavs_runtime *rt);
/** Ends the processes of all ranks; returns only where the process is alone.  Without a runtime
 * (NULL), as where none could be made: of all that mpirun has started, unless the program has
 * started MPI itself.  All have to come to where they make a runtime, or end themselves: some
 * launchers (MPICH's) tell nobody of a process that has not been there. */
void cavs_runtime_abort(struct cavs_runtime *rt, int status);
/** Bytes of gradients that this rank has sent to others so far. */
int64_t cavs_runtime_bytes_sent(const struct cavs_runtime *rt);
/** Seconds so far from when this rank had the gradients of a batch to the last message that others
 * sent for it: what of the exchange is not hidden behind these.  The rank updates meanwhile. */
double cavs_runtime_exchange_seconds(const struct cavs_runtime *rt);

/** The hardware's limit as the roofline sees it: sgemm of 2048^3 on every CPU worker at once,
 * single-threaded each, the best of 5 runs and of the GEMM libraries present; GFLOP/s of all
 * workers together.  Takes some seconds.  A negative number is an error. */
double cavs_runtime_sgemm_peak(struct cavs_runtime *rt);
/** The other limit: y += x on every CPU worker at once, 32 MB each, the best of 5 runs; GB/s of all
 * workers together, read and written.  A negative number is an error. */
double cavs_runtime_memory_peak(struct cavs_runtime *rt);

/** @} */

/* ---- session --------------------------------------------------------------------------------- */

/** @defgroup session Sessions
 *
 * cavs_session_train(), cavs_session_gradient() and cavs_session_evaluate() take a batch: n samples
 * of d by their numbers.  They return when the batch has been scheduled and its tasks submitted;
 * the work itself goes on in the background.  d may be changed as soon as they return.  n = 0 is an
 * empty batch: nothing happens.
 * @{ */

/** How the vertices of a batch are put together; what the policies are called, and a line on each,
 * by cavs_policy_name() and cavs_policy_summary(). */
enum cavs_policy {
    CAVS_POLICY_SERIAL,   /**< one vertex at a time */
    CAVS_POLICY_DEPTH,    /**< by depth, as TensorFlow Fold does */
    CAVS_POLICY_FRONTIER, /**< what is ready, as Cavs does */
    CAVS_POLICY_AGENDA,   /**< the function whose vertices lie lowest on average, as DyNet does */
    CAVS_POLICY_AUTO,     /**< agenda where that makes fewer V_t of the graph, else depth */
    CAVS_POLICIES         /**< how many there are */
};
/** How parameters follow from gradients; what the optimizers are called, and a line on each, by
 * cavs_optimizer_name() and cavs_optimizer_summary().  Their formulas are in
 * codelets/update.def. */
enum cavs_optimizer {
    CAVS_SGD,       /**< gradient descent */
    CAVS_MOMENTUM,  /**< gradient descent with momentum */
    CAVS_NESTEROV,  /**< gradient descent with Nesterov's momentum */
    CAVS_ADAGRAD,   /**< AdaGrad */
    CAVS_RMSPROP,   /**< RMSProp */
    CAVS_ADAM,      /**< Adam */
    CAVS_ADAMW,     /**< Adam with decoupled weight decay */
    CAVS_OPTIMIZERS /**< how many there are */
};

/** What operands of matrix products are rounded to; what the precisions are called, and a line on
 * each, by cavs_precision_name() and cavs_precision_summary().  All else is float32 in either:
 * sums, element-wise operators, parameters and what the optimizer keeps. */
enum cavs_precision {
    CAVS_FLOAT32,   /**< nothing */
    CAVS_BFLOAT16,  /**< 8 significant bits: a CPU with AMX multiplies them many times faster */
    CAVS_PRECISIONS /**< how many there are */
};

/** What a session does.  Begin with what cavs_session_defaults() gives and change that: a structure
 * of zeros has the policy serial, a learning rate of 0, and an epsilon that is refused. */
struct cavs_session_options {
    enum cavs_policy policy;       /**< how vertices are put together */
    enum cavs_optimizer optimizer; /**< how parameters follow from gradients */
    float lr;                      /**< learning rate */
    float momentum;                /**< of momentum and Nesterov */
    float decay;                   /**< of RMSProp's moving average */
    float beta1;                   /**< of Adam's and AdamW's average of gradients */
    float beta2;                   /**< of Adam's and AdamW's average of squares */
    float epsilon;                 /**< of AdaGrad, RMSProp, Adam and AdamW; not 0 */
    /** This number times the parameter is added to the gradient, after clipping; AdamW subtracts lr
     * times that beside its step instead.  A parameter that is used (on a tape: that has been), but
     * that no gradient reaches in a batch, is updated by a gradient of zero: it is decayed, and its
     * momentum goes on, where PyTorch would skip it (a grad of None).  Only parameters that are
     * looked up (embeddings) and not multiplied are updated lazily: a row that a batch does not
     * touch stays as it is, with no momentum and no weight decay, and what the optimizer keeps for
     * it does not decay either. */
    float weight_decay;
    float clip;  /**< largest global norm of the gradient of a batch; 0: no clipping */
    float scale; /**< the gradient is multiplied by this before clipping; 0 means 1 */
    /** The gradient is also divided by the number of samples of its batch: it is a mean over
     * samples, also where the last batch of an epoch is smaller.  A sample counts as one, however
     * many vertices of it have a loss. */
    bool mean;
    uint64_t seed; /**< of the parameters' initial values, and of dropout */
    /** Independent parts that a batch is cut into, at most 4096; 0: one per core of the machine,
     * or, of several ranks that ask for devices, one per device.  Without ranks and devices that is
     * fewer for batches of few samples, where the weights of a chain fill half of a core's
     * second-level cache: workers then share in each V_t.  Results depend on this number in the
     * last bits, and on nothing else of the machine. */
    int shards;
    /** Seconds of work that a task should be worth for the runtime's cost per task not to show; 0:
     * 60 times the cost measured.  Thin batching tasks are put together up to it, wide ones are
     * cut down to it. */
    float grain;
    /** Of products with parameters, in forward and backward passes, but for those that select a
     * block of a parameter.  Beside devices CPU workers multiply float32 numbers, and so do OpenCL
     * devices; a notice says so.  CUDA devices round what their library multiplies: the products of
     * many rows. */
    enum cavs_precision precision;
    /** Megabytes for what was prepared of batches that come again: the same samples of the same
     * data in the same order, as in a development set that is evaluated after every epoch.  With 0,
     * with devices and with several ranks every batch is prepared anew. */
    int keep_mb;
    bool inference; /**< forward only: nothing is kept for a backward pass, and there is no state of
                     * an optimizer */
    bool no_lazy;   /**< do not put off operators that nothing waits for */
    bool no_eager;  /**< do not run operators ahead that wait for nothing */
    bool no_fusion; /**< do not fuse element-wise operators */
    bool no_dedup;  /**< evaluate equal vertices and equal inputs each for itself */
    bool measure;   /**< time every step and update; costs about 50 ns each */
    /** Report the first NaN or infinity with its operator and vertex (CAVS_ENUMERIC); parameters
     * are then as before that batch, metrics are not.  This is slow: every batch is waited for. */
    bool check_finite;
};
/** frontier, SGD with lr 0.01, momentum 0.9, decay 0.9, betas 0.9 and 0.999, epsilon 1e-8,
 * keep_mb 256; the rest is 0. */
struct cavs_session_options cavs_session_defaults(void);

/** What an optimizer is called ("adam"); NULL: there is none of that number. */
const char *cavs_optimizer_name(int optimizer);
/** A line that says what an optimizer does, or NULL. */
const char *cavs_optimizer_summary(int optimizer);
/** What a policy is called ("agenda"); NULL: there is none of that number. */
const char *cavs_policy_name(int policy);
/** A line that says what a policy does, or NULL. */
const char *cavs_policy_summary(int policy);
/** What a precision is called ("bfloat16"); NULL: there is none of that number. */
const char *cavs_precision_name(int precision);
/** A line that says what a precision is, or NULL. */
const char *cavs_precision_summary(int precision);

/** Compiles the model for the runtime; its parameters get their initial values. */
int cavs_session_create(struct cavs_runtime *rt, const struct cavs_model *m,
                        const struct cavs_session_options *options, struct cavs_session **out);
/** The same; parameters that have the names of others in the session `other` (NULL: none) are the
 * same parameters: what one of the sessions does to them, all see, and nothing is copied.  What the
 * optimizer keeps of them is one, too, and so is the number of updates; learning rate, seed,
 * metrics and notes are each session's own.  Parameters that `other` does not have start as always,
 * and can be shared by those that are made with this session.
 *
 * So a second model can compute with what a first one learns (a decoder, step by step), or be
 * trained in turns with it.  Any of the sessions may be destroyed first; one thread at a time may
 * use them.
 *
 * Refused: another runtime; a parameter of another shape (CAVS_ESHAPE); of the sessions that train,
 * another optimizer; and a parameter of which products are joined with those of others in one
 * model alone (x W and x V, with the same x in all functions, are one product). */
int cavs_session_create_with(struct cavs_runtime *rt, const struct cavs_model *m,
                             const struct cavs_session_options *options,
                             const struct cavs_session *other, struct cavs_session **out);
/** Waits for what was submitted, and ends the session. */
void cavs_session_destroy(struct cavs_session *s);

/** Forward, backward and update for a batch; returns when that is submitted.  A model of which no
 * function has a loss is refused here and by cavs_session_gradient(): CAVS_EPROGRAM. */
int cavs_session_train(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                       int n);
/** Forward and backward for a batch, for cavs_session_get_gradient(); returns when that is
 * submitted.  Metrics and losses count it; parameters stay as they are. */
int cavs_session_gradient(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n);
/** Forward only for a batch; returns when that is submitted. */
int cavs_session_evaluate(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n);
/** What vertices pushed on a channel. */
struct cavs_fetch {
    const struct cavs_stage *stage; /**< whose vertices */
    const char *channel;            /**< the name of the channel */
    /** The caller's array, which gets one row of the channel's width for every vertex of the
     * stage, samples one after the other, vertices in the samples' own order.  It is written only
     * on success. */
    float *rows;
};
/** Forward only, once; then waits and copies all that is asked for, of any stages.  As with
 * cavs_session_evaluate(), what the batch adds to metrics and losses is added once, however many
 * channels are fetched. */
int cavs_session_run(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                     int nfetches, const struct cavs_fetch *fetches);
/** cavs_session_run() for one channel. */
int cavs_session_output(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                        int n, const struct cavs_stage *stage, const char *channel, float *rows);

/** Waits for everything submitted. */
int cavs_session_wait(struct cavs_session *s);
/** The sum of a metric or loss and the number of vertices counted since the last reset; waits for
 * all submitted batches. */
int cavs_session_metric(struct cavs_session *s, const char *name, double *sum, double *count);
/** Sets all metrics and losses to zero. */
int cavs_session_reset_metrics(struct cavs_session *s);

/** The values of a parameter, rows x cols row-major; waits. */
int cavs_session_get_param(struct cavs_session *s, const struct cavs_param *p, float *values);
/** Sets the values of a parameter, rows x cols row-major; waits. */
int cavs_session_set_param(struct cavs_session *s, const struct cavs_param *p, const float *values);
/** The gradient of the last batch, which must have been a cavs_session_gradient() or a recording of
 * CAVS_TAPE_GRADIENT, and not have failed; rows x cols row-major; waits.  Of batches and recordings
 * without samples it knows nothing: the one before counts.
 *
 * It is that of the sum of all losses of the batch.  What the options `mean`, `scale`, `clip` and
 * `weight_decay` make of it is a part of the update: none of them is in it. */
int cavs_session_get_gradient(struct cavs_session *s, const struct cavs_param *p, float *values);
/** Sets the learning rate of the batches that follow. */
int cavs_session_set_lr(struct cavs_session *s, float lr);

/** Writes a model file: safetensors, parameters by name, row-major float32.  The file is replaced
 * atomically.  It holds checksums in its metadata; a program that changes numbers in a file has to
 * leave out the metadata whose names begin with "cavs.checksum". */
int cavs_session_save(struct cavs_session *s, const char *path);
/** The same with numbers of that precision.  Those of CAVS_BFLOAT16 (BF16 in safetensors) are
 * rounded to the nearest, and take half the room. */
int cavs_session_save_as(struct cavs_session *s, const char *path, enum cavs_precision numbers);
/** Takes the parameters from a model file or a checkpoint, which must have every parameter of the
 * model with its shape; names that the model does not know are an error that names them.  What is
 * damaged is refused (CAVS_EFORMAT, and the parameter's name), before anything is changed.  Files
 * without checksums are read, too; F64, F16 and BF16 become float32. */
int cavs_session_load(struct cavs_session *s, const char *path);

/** Keeps a text (UTF-8) under a name in the metadata of every model file and checkpoint that the
 * session writes from now on: the options of the model, a vocabulary.  The same name replaces it,
 * text NULL removes it.  Names that begin with "cavs." and the name "format" are taken.  Loading
 * and resuming leave a session's notes as they are: read those of a file with
 * cavs_model_file_note(). */
int cavs_session_note(struct cavs_session *s, const char *name, const char *text);

/** Writes a checkpoint: a model file that also holds what the optimizer keeps, the number of
 * updates, the learning rate as it was set last, the seed and the metrics since their last reset.
 * A session of the same model and options that resumes from it goes on as this one would have, to
 * the last bit.  It has also what the session's tapes have found of the program that records, for
 * the tapes of the other session, in the order in which they were created.
 *
 * `note` (UTF-8, NULL for none) is the caller's own: how far an epoch has come, for one.  It is in
 * the same file, so the two cannot disagree.  Waits for everything submitted.  The file is
 * replaced atomically and flushed to disk. */
int cavs_session_checkpoint(struct cavs_session *s, const char *path, const char *note);
/** Goes on from a checkpoint: it must be of the same optimizer; seed and learning rate are taken
 * from the file, and with an error nothing changes.  *note (unless note is NULL) is to be freed by
 * the caller.  Metrics that the session's tapes have met since then are zero.  The number of shards
 * may differ, at the cost of the last bits.  Waits for everything submitted. */
int cavs_session_resume(struct cavs_session *s, const char *path, char **note);

/** Opens a model file by itself, without a model: to see what is in it, and to take single
 * parameters from it by cavs_session_set_param().  Checkpoints will do (what the optimizer keeps
 * is left out), and safetensors files of other programs: vectors are one row; of more than two
 * dimensions, all but the last are rows. */
int cavs_model_file_open(const char *path, struct cavs_model_file **out);
/** Ends the use of the file, and of all texts that it gave. */
void cavs_model_file_close(struct cavs_model_file *f);
/** A text of the metadata; NULL if there is none of that name. */
const char *cavs_model_file_note(const struct cavs_model_file *f, const char *name);
/** The number of parameters; they are numbered from 0. */
int cavs_model_file_count(const struct cavs_model_file *f);
/** The name of parameter i; NULL if there is none. */
const char *cavs_model_file_name(const struct cavs_model_file *f, int i);
/** The rows of parameter i; -1 if there is none. */
int cavs_model_file_rows(const struct cavs_model_file *f, int i);
/** The columns of parameter i; -1 if there is none. */
int cavs_model_file_cols(const struct cavs_model_file *f, int i);
/** The numbers of parameter i, rows x cols row-major.  F64, F16 and BF16 become float32, other
 * types are refused, and so is what is damaged. */
int cavs_model_file_read(struct cavs_model_file *f, int i, float *values);

/** What a session did since it was created or cavs_session_reset_stats() was called. */
struct cavs_stats {
    int64_t batches;   /**< batches */
    int64_t samples;   /**< samples in them */
    int64_t vertices;  /**< vertices of these samples; of tapes, symbols that were computed */
    int64_t evaluated; /**< vertices left after sharing identical ones */
    int64_t tasks;     /**< StarPU tasks submitted; of the smallest batches there are none */
    int64_t launches;  /**< kernels and products queued on devices, by all sessions */
    /** V_t of chains that devices took, forward [0] and backward [1], likewise. */
    int64_t device_vt[2];
    int64_t vt_launches[2]; /**< of the launches, those for these V_t */
    int64_t batching_tasks; /**< batching tasks over all stages and shards, forward */
    double flops;           /**< nominal operations of products (2mnk), as if nothing were shared */
    /** What updates have to read and write at least: each parameter and its states once, of those
     * that are looked up the rows that a batch has touched; of several ranks this one's part. */
    double update_bytes;
    /** Seconds of processors that scheduling and submission had, of all threads; what these wait
     * for does not count. */
    double schedule_s;
    double arrange_s; /**< of these: shards scheduled and indexed, side by side where that pays */
    double lay_out_s; /**< of these, of the main thread: for the memory of tasks */
    double submit_s;  /**< of these, of the main thread: for submitting them */
    double exposed_s; /**< of the clock, in which nothing but that was done */
    double wait_s;    /**< seconds of the main thread: waiting for a free batch slot */
    /** Seconds of all workers inside batching tasks, with the option measure: matrix products. */
    double product_s;
    /** In the same way: steps that only move rows (gather, scatter, sums over parents; what is
     * fused with arithmetic counts there). */
    double memory_s;
    double other_s; /**< in the same way: element-wise operators and the rest */
    /** Seconds of all workers inside the tasks of the optimizer, with the option measure: norms of
     * gradients, gradients of looked-up rows added to dense ones, and updates. */
    double update_s;
    size_t tensor_bytes; /**< of dynamic tensors and parameters */
};
/** Says what the session did. */
void cavs_session_stats(const struct cavs_session *s, struct cavs_stats *out);
/** Shards of the last batch that a rank has had; they are dealt by how fast the ranks are. */
int cavs_session_rank_shards(const struct cavs_session *s, int rank);
/** Counts from zero again. */
void cavs_session_reset_stats(struct cavs_session *s);

/** A text, to be freed by the caller: each operator with its class (eager, chain, lazy), the task
 * it ended in, its fused group and the shape of its product, and operators that could not be
 * batched with the reason. */
int cavs_session_explain(const struct cavs_session *s, char **text);

/** @} */

/* ---- tapes ----------------------------------------------------------------------------------- */

/** @defgroup tapes Tapes
 *
 * A tape records a network as ordinary code computes it, sample by sample, with loops and branches
 * that may depend on what was just computed; what samples have in common is batched on the fly.  It
 * belongs to a session: parameters, optimizer, seed, learning rate, metrics and checkpoints are the
 * session's, and cavs_session_train() and tapes may take turns.  A model for tapes alone needs
 * parameters and no stage.
 *
 *     cavs_tape_begin(t, CAVS_TAPE_TRAIN);
 *     for (int i = 0; i < batch; i++) {
 *         struct cavs_function *f = cavs_tape_sample(t);
 *         struct cavs_symbol *h = cavs_constant(f, hidden, 0);
 *
 *         for (int k = 0; k < length[i]; k++)
 *             h = cavs_tanh(cavs_add(cavs_lookup(E, cavs_tape_id(t, word[i][k])),
 *                                    cavs_affine(h, U, b)));
 *         cavs_loss(f, "loss", cavs_softmax_cross_entropy(cavs_affine(h, V, c),
 *                                                         cavs_tape_id(t, label[i])), NULL);
 *     }
 *     cavs_tape_finish(t);
 *
 * **Recording.**  The operators of vertex functions record: each makes one symbol or a few, at
 * once, and nothing is computed yet.  Symbols belong to the tape and are there until the next
 * cavs_tape_begin(); the recording that this begins refuses them, and those after it may have
 * others in their place.  There are no vertices: gather, scatter, push and the inputs by name are
 * refused.
 *
 * **Errors.**  A mistake while recording (shapes that do not fit, an id out of range, a symbol of
 * another tape or of an earlier recording, too many symbols, no memory) gives NULL, which operators
 * pass on; the first mistake is reported by cavs_tape_values() and cavs_tape_finish(), with the
 * line that recorded it.  After cavs_tape_begin() the tape can be used again.
 *
 * **Results** are the same to the last bit for any number of workers.  Dropout draws its numbers by
 * the session's seed, the number of updates before cavs_tape_begin(), the sample and the symbol in
 * it.  Where parameters change amid a recording (by another tape, say), rows that are there stay as
 * they were computed, and gradients go by what the parameters are at cavs_tape_finish().
 * @{ */

struct cavs_tape;

/** What becomes of a recording. */
enum cavs_tape_run {
    CAVS_TAPE_EVALUATE, /**< values alone; nothing is dropped by cavs_dropout() */
    CAVS_TAPE_GRADIENT, /**< forward and backward, for cavs_session_get_gradient() and
                         * cavs_tape_gradients(); rows (cavs_tape_row()) have gradients, too */
    CAVS_TAPE_TRAIN     /**< forward, backward, and an update of the parameters */
};

/** What a tape does; cavs_tape_defaults() fills it in. */
struct cavs_tape_options {
    /** How symbols are put together, over all samples: CAVS_POLICY_DEPTH, CAVS_POLICY_AGENDA,
     * CAVS_POLICY_AUTO, or CAVS_POLICY_SERIAL for no batching at all; CAVS_POLICY_FRONTIER makes
     * the V_t of CAVS_POLICY_DEPTH. */
    enum cavs_policy policy;
    int64_t most_symbols; /**< of a recording; one more is refused */
    /** Runs of symbols that recur become blocks, each computed as one vertex function: what lies
     * between two branches of the program that records, such as the body of a loop.  Their code is
     * compiled in the background, and used so many recordings after they were found: which
     * recordings these are does not depend on how long that takes.  Results are the same to
     * rounding.  0, or with the session's check_finite: no blocks. */
    int blocks_after;
    bool one_recorder; /**< cavs_tape_record() calls its function on the caller's thread alone */
};
/** auto; 2^28 symbols; blocks after 8 recordings. */
struct cavs_tape_options cavs_tape_defaults(void);

/** A tape over a session; options NULL: the defaults.  A session that is destroyed before its tapes
 * lives on until they are.  Of several @ref ranks each records all samples, and evaluates those of
 * its shards; what is asked for all get. */
int cavs_tape_create(struct cavs_session *s, const struct cavs_tape_options *options,
                     struct cavs_tape **out);
/** Ends the tape; what was recorded and not finished is forgotten. */
void cavs_tape_destroy(struct cavs_tape *t);

/** Begins a recording, and forgets the one before: its symbols are refused from now on. */
int cavs_tape_begin(struct cavs_tape *t, enum cavs_tape_run run);
/** Begins the next sample, and gives what cavs_use(), cavs_constant(), cavs_loss() and
 * cavs_metric() take for a function (any other operator finds it by its operands).  A sample is
 * what option `mean` divides by and what is computed on one worker at a time; one may read symbols
 * of others, and is then computed together with them.  NULL: the tape has no recording, or too many
 * samples. */
struct cavs_function *cavs_tape_sample(struct cavs_tape *t);
/** Goes on with a sample that has begun, by its number from 0 on: where all samples of a batch
 * advance together (a symbol that reads others is of their sample anyway, so this matters for those
 * that read ids and rows alone).  NULL: there is no such sample. */
struct cavs_function *cavs_tape_resume(struct cavs_tape *t, int sample);
/** What cavs_tape_sample() gave last in this recording; NULL: nothing. */
struct cavs_function *cavs_tape_function(struct cavs_tape *t);

/** Records the next n samples by calling `record` for each, i from 0 to n - 1, in place of
 * cavs_tape_sample(): on several of the workers at once, where that is of use.  What is recorded is
 * the same as if that had been done for one after the other, to the last bit, mistakes included.
 *
 * The function is handed the tape that it records on (cavs_tape_function(), cavs_tape_id(), ...),
 * which may not be t.  It reads nothing that another sample has recorded, on which no worker can
 * wait: else all is recorded on this thread.  It may be called for a sample once more, after which
 * what it did first does not count, and, since others do the same meanwhile, writes nothing that is
 * not its sample's own; symbols that it notes for later may be used afterwards.  What it returns
 * other than 0 ends the recording, and is returned.
 *
 * 0 or the code of the first mistake, after which the recording is of no more use. */
int cavs_tape_record(struct cavs_tape *t, int n,
                     int (*record)(struct cavs_tape *t, int i, void *user), void *user);

/** A row of `width` numbers, which are copied. */
#define cavs_tape_row(t, width, row) cavs_tape_row_at((t), (width), (row), CAVS_HERE)
/** An id: for cavs_lookup(), cavs_pick(), cavs_matmul_select() and as a label.  -1 is none. */
#define cavs_tape_id(t, id) cavs_tape_id_at((t), (id), CAVS_HERE)
/** The n symbols of an array as a list, n at least 1: all of one width, or all ids.  Operators take
 * each of its entries, together with the entry of the same number of other lists, which have to be
 * as long, and with what is no list; cavs_sum_children() and the like take all.  So attention is
 * cavs_sum_children(cavs_mul(cavs_softmax_children(scores), values)). */
#define cavs_tape_list(t, n, xs) cavs_tape_list_at((t), (n), (xs), CAVS_HERE)
/** @cond */
struct cavs_symbol *cavs_tape_row_at(struct cavs_tape *t, int width, const float *row,
                                     struct cavs_place at);
struct cavs_symbol *cavs_tape_id_at(struct cavs_tape *t, int id, struct cavs_place at);
struct cavs_symbol *cavs_tape_list_at(struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                                      struct cavs_place at);
/** @endcond */

/** A symbol and what it is called. */
struct cavs_named {
    const char *name;      /**< of an input, or of a channel */
    struct cavs_symbol *x; /**< of a tape */
};
/** What a declared function is applied to, and what comes of it. */
struct cavs_application {
    int ninputs;                         /**< of `inputs` */
    const struct cavs_named *inputs;     /**< rows and ids that the function pulls, by name; what it
                                            pulls for a list is a list, or not there: it is empty */
    int nchildren;                       /**< of `children` */
    struct cavs_symbol *const *children; /**< states that it gathers; NULL, or beyond: zeros; one
                                            that it does not gather is refused (CAVS_EGRAPH) */
    int nchannels;                       /**< of `channels` */
    struct cavs_named *channels;         /**< x is set to what it pushes by that name, or to NULL */
};
/** Records what a declared vertex function f of the session's model computes, with its losses and
 * metrics, and gives the state that it scatters; NULL if it scatters none, and on misuse.
 * Parameters are those of the function.  It is one symbol, beside which there may be one for
 * products of its inputs alone and one for what leads to losses and metrics alone.  Those of a
 * function that reads one list (its children all alike, or one that it pulls) are batched together
 * whatever its length is, and the compiler runs once.  A function that reads several, or some of
 * its children by number, too, is another one for each number of children and length of lists; so
 * is one whose entries are constants, or begin at different columns, and one that drops rows of
 * entries.  Functions that read other stages are refused: declare an input instead. */
#define cavs_tape_apply(t, f, a) cavs_tape_apply_at((t), (f), (a), CAVS_HERE)
/** @cond */
struct cavs_symbol *cavs_tape_apply_at(struct cavs_tape *t, const struct cavs_function *f,
                                       struct cavs_application *a, struct cavs_place at);
/** @endcond */

/** How far the recording has come, for cavs_tape_rewind(); a negative number is an error. */
int64_t cavs_tape_mark(struct cavs_tape *t);
/** Forgets what was recorded since that mark of this recording, for searches that drop most of what
 * they try.  The sample that was being recorded at the mark is the present one again.  A mark that
 * was taken back itself is none any more. */
int cavs_tape_rewind(struct cavs_tape *t, int64_t mark);

/** Computes these symbols of any samples, and no more than they need, and copies their rows: one of
 * its width for each symbol.  Recording goes on afterwards, and may depend on them.
 *
 * Each call waits for the workers once: ask for all samples at a time.  Samples that read symbols
 * of one another have to do so before one of them is first asked for.
 *
 * After cavs_tape_finish() there are the rows that it has computed, but for those inside of blocks:
 * with CAVS_TAPE_EVALUATE these are computed now; else CAVS_ESTATE, and from the next recording on
 * they are kept.  A program that asks so from the beginning never meets that.  Of a parameter
 * (cavs_use()) that CAVS_TAPE_TRAIN has updated: CAVS_ESTATE. */
int cavs_tape_values(struct cavs_tape *t, int n, struct cavs_symbol *const *xs, float *const *rows);
/** Ends the recording: computes what its losses and metrics need and was not computed yet, then
 * gradients and the update, as cavs_tape_begin() said.  Returns when that is submitted; the work
 * goes on in the background, and the next recording may begin.  A recording without any loss is no
 * mistake: a batch may have nothing to learn from.  Its gradients are zeros, and so are those that
 * an update goes by: it decays parameters that were used, and their momentum goes on. */
int cavs_tape_finish(struct cavs_tape *t);
/** The gradients of the sum of all losses with respect to these symbols, after cavs_tape_finish()
 * and before the next cavs_tape_begin(); waits.  Of a symbol that is made of something trained,
 * or, with CAVS_TAPE_GRADIENT, of rows.  Zeros where no loss depends on it.  Of one that was
 * recorded after cavs_tape_finish(): CAVS_ESTATE.  Of one that was computed in a block, or
 * together with equal symbols: CAVS_ESTATE, and from the next recording on it is in none, and by
 * itself; of several of one run that may be so once for each, and once more where the recording
 * has taken a branch of the program that none took before.  A program that asks so from the
 * beginning never meets that.  Likewise of a cavs_concat() of which others read columns that one of
 * its symbols has: those read that symbol, unless the gradient of the concatenation was asked for
 * before.
 *
 * Columns of a symbol (cavs_slice()) are no symbol of their own: theirs is the gradient of these
 * columns, whoever reads them.  Neither is the sum or the largest of a list of a single entry: it
 * is that entry. */
int cavs_tape_gradients(struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                        float *const *rows);

/** A text, to be freed by the caller: the sorts of symbols that were computed since the tape was
 * created and the blocks that were made of them, how many rows there were of each, in how many
 * batches, which ran alone, and why symbols were in no block. */
int cavs_tape_explain(const struct cavs_tape *t, char **text);

/** What a tape did since it was created. */
struct cavs_tape_stats {
    int64_t recordings;     /**< begun */
    int64_t samples;        /**< of recordings before the present one */
    int64_t side_by_side;   /**< samples that workers have recorded (cavs_tape_record()) */
    int64_t symbols;        /**< likewise, with those that cost nothing: ids, constants, slices */
    int64_t signatures;     /**< sorts of symbols that can be computed together, so far */
    int64_t blocks;         /**< that were made of runs of them, so far */
    int64_t evaluated;      /**< symbols that were computed */
    int64_t batching_tasks; /**< V_t in which they were, alone or in blocks, forward */
};
/** Says what the tape did. */
void cavs_tape_stats(const struct cavs_tape *t, struct cavs_tape_stats *out);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
