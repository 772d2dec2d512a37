/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_build.h - JSON that is whole or not there: when memory is short for a piece, or the piece
 * itself is NULL, all that it was to be a part of is dropped and NULL from then on.  So only what
 * is complete has to be looked at.
 */
#ifndef CAVS_APPS_JSON_BUILD_H
#define CAVS_APPS_JSON_BUILD_H

#include <jansson.h>
#include <stdio.h>

/* Both take the value over, also where *whole is NULL. */
void json_build_append(json_t **whole, json_t *value);
void json_build_set(json_t **whole, const char *name, json_t *value);

/* JSON has no NaN and no infinity: null. */
json_t *json_build_number(double value);

/* The library has the like (core/base/json_text.h), which is not part of its interface. */
/* Its text in one line, the caller's, reals with so many digits; NULL: memory is short, or it is
 * NULL. */
char *json_build_text(const json_t *whole, int digits);
/* Writes it on a line of its own: 0, or CAVS_ENOMEM, where nothing is written, also if it is
 * NULL.  What became of the writing the stream knows. */
int json_build_write(const json_t *whole, int digits, FILE *to);

#endif
