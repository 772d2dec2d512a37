/* SPDX-License-Identifier: Apache-2.0 */
/* splitmix.h - a number well mixed (Steele, Lea, Flood 2014): for generators that are keyed on what
 * they are for. */
#ifndef CAVS_CORE_BASE_SPLITMIX_H
#define CAVS_CORE_BASE_SPLITMIX_H

#include <stdint.h>

static inline uint64_t cavs__splitmix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
