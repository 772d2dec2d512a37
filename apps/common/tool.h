/* SPDX-License-Identifier: Apache-2.0 */
/* tool.h - runs another program, and waits for it. */
#ifndef CAVS_APPS_TOOL_H
#define CAVS_APPS_TOOL_H

#include "apps/common/app_error.h"

enum { TOOL_FOLDERS = 2 };

struct tool {
    const char *const *argv;           /* argv[0]: its name; NULL ends them */
    const char *folders[TOOL_FOLDERS]; /* where it is looked for before PATH; NULL: nowhere */
    /* The file that all it prints goes to, removed if it stays empty; NULL: to our stderr. */
    const char *log;
    const char *hint; /* where to get it from, behind the message that it is not there */
};

/* 0, or CAVS_ERUNTIME if it is not there or fails.  It reads nothing of our stdin and writes
 * nothing to our stdout: results of the program may be read from there. */
int tool_run(const struct tool *t, struct app_error *e);

#endif
