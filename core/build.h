/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - what the calls that build symbols share; failures are recorded in the function
 * (function_fail). */
#ifndef CAVS_CORE_BUILD_H
#define CAVS_CORE_BUILD_H

#include "core/model.h"

#define FAIL(f, code, ...) cavs__function_fail((f), (code), file, line, __VA_ARGS__)

/* May f still grow?  Is x one of its float symbols, one of its id inputs, is p a parameter of its
 * model? */
bool cavs__open_for(struct cavs_function *f, const char *op, const char *file, int line);
bool cavs__is_value(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                    const char *file, int line);
bool cavs__is_ids(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                  const char *file, int line);
bool cavs__is_param(struct cavs_function *f, const struct cavs_param *p, const char *op,
                    const char *file, int line);
/* Ids of this input have to be below the limit: data with others are refused. */
void cavs__limit_ids(struct cavs_symbol *ids, int limit);
struct cavs_symbol *cavs__add_symbol(struct cavs_function *f, struct cavs_symbol like, int n,
                                     struct cavs_symbol *const *inputs);

#endif
