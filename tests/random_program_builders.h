/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_builders.h - a step as a call of the library that makes its symbol: inside of
 * random_program_play.c. */
#ifndef CAVS_TESTS_RANDOM_PROGRAM_BUILDERS_H
#define CAVS_TESTS_RANDOM_PROGRAM_BUILDERS_H

#include "tests/random_program.h"

static inline struct cavs_place program_place(const struct program_step *s)
{
    return (struct cavs_place){"program", s->line};
}

/* A step without operands; inputs of a function are known by the number of the step. */
struct cavs_symbol *program_source(const struct program_player *to, int number);
/* An operator on symbols, none of them a list unless it is recorded on a tape: else `entry` says
 * which of the list's entries they are. */
struct cavs_symbol *program_operator(const struct program_player *to, int number, int entry,
                                     struct cavs_symbol *const *in);

#endif
