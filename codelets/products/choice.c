/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c - see choice.h. */
#include "codelets/products/choice.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/notice.h"

static int choose(const struct cavs__choice *c, const char *wanted)
{
    int best = -1;

    for (int i = 0; c->name(i); i++) {
        if (!c->available(i))
            continue;
        if (wanted && !strcmp(wanted, c->name(i)))
            return i;
        if (best < 0)
            best = i;
    }
    if (wanted && *wanted)
        cavs__notice("%s=%s: no such source of %s works here; %s is used", c->variable, wanted,
                     c->what, c->name(best));
    return best;
}

int cavs__make_choice(struct cavs__choice *c)
{
    int i = choose(c, getenv(c->variable));

    /* threads that race here come to the same answer */
    atomic_store_explicit(&c->made, i + 1, memory_order_release);
    return i;
}
