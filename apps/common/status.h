/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - what programs exit with. */
#ifndef CAVS_APPS_STATUS_H
#define CAVS_APPS_STATUS_H

#include "apps/common/app_error.h"

enum {
    APP_OK = 0,
    APP_FAILED = 1,
    APP_USAGE = 2,   /* a mistake on the command line */
    APP_DIVERGED = 3 /* the parameters are no numbers any more */
    /* 128 + number of the signal that stopped it: 129 SIGHUP, 130 SIGINT, 143 SIGTERM */
};

/* The same for people, in --help. Lines end here: where glibc's argp breaks the last one itself, it
 * may forget to end it. */
#define APP_STATUS_HELP                                                             \
    "Exit status: 0; 1 failed; 2 a mistake on the command line; 3 the parameters\n" \
    "became NaN or infinite; 129, 130 and 143 stopped by SIGHUP, SIGINT and\nSIGTERM."

/* The same of tools, which train nothing. */
#define APP_TOOL_STATUS_HELP "Exit status: 0; 1 failed; 2 a mistake on the command line."

/* What to say of the negative code rc: the sentence, or if that is empty the library's message. */
const char *app_error_text(int rc, const struct app_error *e);

/* APP_FAILED, or APP_USAGE if it was a mistake on the command line. */
int app_error_status(const struct app_error *e);

/* What main() returns for rc: APP_OK, or if it is negative that of the error, after a line on
 * stderr with that text. */
int app_status(const char *program, int rc, const struct app_error *e);

#endif
