/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo.h - small models of every kind, written on the public interface, each with samples for it.
 *
 * Together they use every operator, every way of connecting stages and every shape of graph; a
 * test that walks the zoo needs no model of its own.
 */
#ifndef CAVS_TESTS_ZOO_H
#define CAVS_TESTS_ZOO_H

#include "core/cavs.h"

enum { ZOO_SAMPLES = 10 };

struct zoo_entry {
    const char *name;
    void (*build)(struct cavs_model *m);
    const char *samples[ZOO_SAMPLES]; /* texts for sample_make(), up to the first NULL */
};

int zoo_count(void);
const struct zoo_entry *zoo_at(int i);
const struct zoo_entry *zoo_find(const char *name); /* aborts if there is none */
int zoo_samples(const struct zoo_entry *z);
/* The finished model; aborts with the library's message if it cannot be built. */
struct cavs_model *zoo_model(const struct zoo_entry *z);

/* The parts that most models share.  Weights are small and uniform. */
struct cavs_param *zoo_weight(struct cavs_model *m, const char *name, int rows, int cols);
struct cavs_symbol *zoo_state(struct cavs_function *f, struct cavs_symbol *h,
                              struct cavs_symbol *c);
/* A stage over all vertices that classifies `channel` of `base` against the id input "label". */
void zoo_classify(struct cavs_model *m, struct cavs_stage *base, const char *channel, int width,
                  int classes);
/* c = i u + sum of f_k c_k; scatters [tanh(c) o ; c] and pushes h.  Gates are passed before their
 * nonlinearity. */
void zoo_lstm_end(struct cavs_function *f, struct cavs_symbol *i, struct cavs_symbol *o,
                  struct cavs_symbol *u, struct cavs_symbol *forgotten);

/* The rooms of the zoo, each ended by an entry without a name. */
extern const struct zoo_entry zoo_trees[], zoo_chains[], zoo_stages[], zoo_oddities[], zoo_lists[];

#endif
