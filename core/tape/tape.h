/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.h - a tape: a recording, and the session that it belongs to.
 *
 *   recording.c   symbols of the present recording
 *   signature.c   sorts of symbols that can be computed together
 *   order.c       symbols that are wanted -> V_t
 *   tape.c        life, and the public calls
 */
#ifndef CAVS_CORE_TAPE_TAPE_H
#define CAVS_CORE_TAPE_TAPE_H

#include "core/run/session.h"
#include "core/tape/recording.h"

struct cavs_tape {
    struct cavs_session *session;
    struct cavs_tape_options options;
    struct cavs__recording recording;
    struct cavs_tape_stats stats;
};

#endif
