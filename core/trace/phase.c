/* SPDX-License-Identifier: Apache-2.0 */
/* phase.c - the part of training that a task belongs to, and its colour; both from the codelet's
 * name. */
#include <string.h>

#include "core/trace/trace.h"

/* Okabe and Ito's palette, which colour-blind readers can tell apart; lighter forward, darker
 * backward. */
static const struct {
    const char *name;
    unsigned forward, backward;
} phases[CAVS__TRACE_PHASES] = {
    [CAVS__TRACE_EAGER] = {"eager", 0x62c9a8, 0x00805c},
    [CAVS__TRACE_CHAIN] = {"chain", 0x6cb8e8, 0x0061a0},
    [CAVS__TRACE_LAZY] = {"lazy", 0xe6b3d0, 0xb85c92},
    [CAVS__TRACE_GRADIENT] = {"gradient", 0xe69f00, 0xe69f00},
    [CAVS__TRACE_UPDATE] = {"update", 0xc44e00, 0xc44e00},
    [CAVS__TRACE_OTHER] = {"other", 0x8c8c8c, 0x8c8c8c},
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

struct cavs__trace_kind cavs__trace_kind_of(const char *codelet)
{
    struct cavs__trace_kind kind = {CAVS__TRACE_OTHER, strstr(codelet, ".backward.") != NULL};

    if (strcmp(codelet, "cavs_update") == 0 || strcmp(codelet, "cavs_norm") == 0)
        kind.phase = CAVS__TRACE_UPDATE;
    else if (strstr(codelet, ".gradient."))
        kind.phase = CAVS__TRACE_GRADIENT;
    else if (ends_with(codelet, ".eager") || ends_with(codelet, ".forward.shared"))
        kind.phase = CAVS__TRACE_EAGER;
    else if (ends_with(codelet, ".chain"))
        kind.phase = CAVS__TRACE_CHAIN;
    else if (ends_with(codelet, ".lazy") || ends_with(codelet, ".metrics") ||
             ends_with(codelet, ".backward.shared"))
        kind.phase = CAVS__TRACE_LAZY;
    if (!cavs__trace_has_directions(kind.phase))
        kind.backward = false;
    return kind;
}

bool cavs__trace_has_directions(enum cavs__trace_phase phase)
{
    return phases[phase].forward != phases[phase].backward;
}

const char *cavs__trace_phase_name(enum cavs__trace_phase phase)
{
    return phases[phase].name;
}

const char *cavs__trace_direction(struct cavs__trace_kind kind)
{
    if (!cavs__trace_has_directions(kind.phase))
        return "";
    return kind.backward ? " backward" : " forward";
}

unsigned cavs__trace_color(struct cavs__trace_kind kind)
{
    return kind.backward ? phases[kind.phase].backward : phases[kind.phase].forward;
}
