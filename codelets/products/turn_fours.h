/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_fours.h - vectors that are turned over, as far as groups of four numbers go.
 *
 * A file for one width of vectors includes this after it has defined
 *     OP: what functions of that file begin with
 *     vec, LANES: a vector, and the numbers in it, a multiple of four
 *     LOW(a, b), HIGH(a, b): a's and b's numbers in turn, from the lower or the upper half of each
 *         group of four
 *     LOW_PAIRS(a, b), HIGH_PAIRS(a, b): likewise pairs of numbers
 */

/* Lane 4 g + j of r[4 k + i] and lane 4 g + i of r[4 k + j] change places. */
OP void turn_fours(vec *r)
{
    vec t[LANES];

    for (int i = 0; i < LANES; i += 2) {
        t[i] = LOW(r[i], r[i + 1]);
        t[i + 1] = HIGH(r[i], r[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4) {
        r[i] = LOW_PAIRS(t[i], t[i + 2]);
        r[i + 1] = HIGH_PAIRS(t[i], t[i + 2]);
        r[i + 2] = LOW_PAIRS(t[i + 1], t[i + 3]);
        r[i + 3] = HIGH_PAIRS(t[i + 1], t[i + 3]);
    }
}
