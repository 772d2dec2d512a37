/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - the part of training that a task belongs to, and its colour; both from the codelet's
 * name. */
#include <string.h>

#include "core/compile/work.h"

/* Okabe and Ito's palette, which colour-blind readers can tell apart; lighter forward, darker
 * backward. */
static const struct {
    const char *name;
    unsigned forward, backward;
} phases[CAVS__WORK_PHASES] = {
    [CAVS__WORK_EAGER] = {"eager", 0x62c9a8, 0x00805c},
    [CAVS__WORK_CHAIN] = {"chain", 0x6cb8e8, 0x0061a0},
    [CAVS__WORK_LAZY] = {"lazy", 0xe6b3d0, 0xb85c92},
    [CAVS__WORK_GRADIENT] = {"gradient", 0xe69f00, 0xe69f00},
    [CAVS__WORK_UPDATE] = {"update", 0xc44e00, 0xc44e00},
    [CAVS__WORK_JOINED] = {"joined", 0x56b4a0, 0x56b4a0},
    [CAVS__WORK_HELP] = {"help", 0xf0e442, 0xf0e442},
    [CAVS__WORK_OTHER] = {"other", 0x8c8c8c, 0x8c8c8c},
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Eager, chain and lazy work runs forward and backward. */
static bool has_directions(enum cavs__work_phase phase)
{
    return phases[phase].forward != phases[phase].backward;
}

struct cavs__work cavs__work_of(const char *codelet)
{
    struct cavs__work work = {CAVS__WORK_OTHER, strstr(codelet, ".backward.") != NULL};

    if (strcmp(codelet, "cavs_update") == 0 || strcmp(codelet, "cavs_norm") == 0)
        work.phase = CAVS__WORK_UPDATE;
    else if (strcmp(codelet, "cavs_joined") == 0)
        work.phase = CAVS__WORK_JOINED;
    else if (strcmp(codelet, "cavs_help") == 0)
        work.phase = CAVS__WORK_HELP;
    else if (strstr(codelet, ".gradient."))
        work.phase = CAVS__WORK_GRADIENT;
    else if (ends_with(codelet, ".eager") || ends_with(codelet, ".forward.shared"))
        work.phase = CAVS__WORK_EAGER;
    else if (ends_with(codelet, ".chain"))
        work.phase = CAVS__WORK_CHAIN;
    else if (ends_with(codelet, ".lazy") || ends_with(codelet, ".metrics") ||
             ends_with(codelet, ".backward.shared"))
        work.phase = CAVS__WORK_LAZY;
    if (!has_directions(work.phase))
        work.backward = false;
    return work;
}

const char *cavs__work_phase_name(enum cavs__work_phase phase)
{
    return phases[phase].name;
}

const char *cavs__work_direction(struct cavs__work work)
{
    if (!has_directions(work.phase))
        return "";
    return work.backward ? " backward" : " forward";
}

unsigned cavs__work_color(struct cavs__work work)
{
    return work.backward ? phases[work.phase].backward : phases[work.phase].forward;
}
