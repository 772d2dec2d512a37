/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what part of training a task does, by the name of its codelet, and the colour that
 * pictures of a run give it.
 *
 * kinds.c makes the names, and traces of StarPU's show them.  The library colours its codelets for
 * ViTE and dag.dot; the program cavs-trace, which sees nothing but names, sorts tasks by the same
 * rule: this is the one file of the library's inside that it shares.
 */
#ifndef CAVS_CORE_COMPILE_WORK_H
#define CAVS_CORE_COMPILE_WORK_H

#include <stdbool.h>

enum cavs__work_phase {
    CAVS__WORK_EAGER,
    CAVS__WORK_CHAIN,
    CAVS__WORK_LAZY,
    CAVS__WORK_GRADIENT,
    CAVS__WORK_UPDATE,
    CAVS__WORK_JOINED, /* all of these, of a small batch */
    CAVS__WORK_HELP,   /* with products of eager, chain and lazy tasks */
    CAVS__WORK_OTHER,
    CAVS__WORK_PHASES
};

/* A phase and a direction: what is drawn in one colour. */
struct cavs__work {
    enum cavs__work_phase phase;
    bool backward; /* of eager, chain and lazy */
};

/* From the name of a codelet: tree.backward.chain, tree.inner.gradient.U, cavs_update ... */
struct cavs__work cavs__work_of(const char *codelet);
const char *cavs__work_phase_name(enum cavs__work_phase phase);
const char *cavs__work_direction(struct cavs__work work); /* " forward", " backward" or "" */
unsigned cavs__work_color(struct cavs__work work);        /* 0xRRGGBB */

#endif
