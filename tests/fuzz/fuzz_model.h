/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_model.h - a small model for what only a model or a session reads: leaves with a word, inner
 * vertices of two children or of any number, a loss at the roots.  All of it lives as long as the
 * process.
 */
#ifndef CAVS_TESTS_FUZZ_MODEL_H
#define CAVS_TESTS_FUZZ_MODEL_H

#include "core/cavs.h"

const struct cavs_model *fuzz_model(void);
struct cavs_stage *fuzz_stage(void); /* of the trees: functions 0 (no child), 1 (two) and 2 (any) */
/* A session of one worker and one shard with Adam; starts the runtime. */
struct cavs_session *fuzz_session(void);
/* Another one of the same, the caller's, once the runtime has been started. */
struct cavs_session *fuzz_new_session(void);
/* Adds four samples. */
void fuzz_fill(struct cavs_data *d);
/* A batch of them. */
void fuzz_train(struct cavs_session *s);

/* All parameters, fuzz_values() numbers. */
int fuzz_values(void);
void fuzz_get_values(struct cavs_session *s, float *values);
void fuzz_set_values(struct cavs_session *s, const float *values);

#endif
