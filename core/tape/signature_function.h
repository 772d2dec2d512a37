/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_function.h - the vertex function of a signature: operands, an operator or the operators
 * of a block, and what is read of them elsewhere.
 *
 * What makes a symbol of f returns NULL where there is no memory, or where it was given NULL.
 */
#ifndef CAVS_CORE_TAPE_SIGNATURE_FUNCTION_H
#define CAVS_CORE_TAPE_SIGNATURE_FUNCTION_H

#include "core/tape/signature.h"

/* ---- signature_operands.c ---- */

struct cavs_symbol *cavs__add_to(struct cavs_function *f, struct cavs_symbol like, int n,
                                 struct cavs_symbol *const *inputs);
/* Columns of x, or x itself where it is no wider. */
struct cavs_symbol *cavs__columns_of(struct cavs_symbol *x, int from, int width,
                                     struct cavs_place at);
/* The list whose entries operands are, as a domain; 0: out of memory. */
int cavs__add_list(struct cavs_function *f);
/* The symbol that stands for operand k. */
struct cavs_symbol *cavs__add_operand(struct cavs_function *f, int k, int domain,
                                      const struct cavs__operand_sort *o, struct cavs_place at);
/* The sum of all rows that the operand o, a list, has. */
struct cavs_symbol *cavs__sum_of_rows(struct cavs_function *f, const struct cavs__operand_sort *o,
                                      struct cavs_place at);
struct cavs_symbol *cavs__mean_of_rows(struct cavs_function *f, const struct cavs__operand_sort *o,
                                       struct cavs_place at);
struct cavs_symbol *cavs__largest_of_rows(struct cavs_function *f,
                                          const struct cavs__operand_sort *o, struct cavs_place at);
/* The operator itself; of a product by a joined parameter, its columns of the product. */
struct cavs_symbol *cavs__operate(struct cavs_function *f, const struct cavs_symbol *of, int n,
                                  struct cavs_symbol *const *in);

/* ---- signature_function.c ---- */

/* The function of the next signature, without symbols.  Its name may be NULL, where there was no
 * memory for it. */
struct cavs_function *cavs__new_signature_function(struct cavs__signatures *all, const char *name);
/* Finishes s->function, whose symbols are there.  false: out of memory. */
bool cavs__finish_signature_function(struct cavs__signature *s);
/* unfolded_function.c: the symbols of that of a piece of a declared one. */
bool cavs__make_piece(const struct cavs__signatures *all, struct cavs__signature *s);

#endif
