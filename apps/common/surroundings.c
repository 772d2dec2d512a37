/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/status.h"

/* Input is opened for writing only and the others for reading only: using them fails, as it
 * should. */
static void keep_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int opened = fd;

        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (opened < 0)
            return;
    }
}

/* Whoever ends with another status has said why. */
static void check_output(int status, void *unused)
{
    (void)unused;
    if (status != APP_OK || (fflush(stdout) == 0 && !ferror(stdout)))
        return;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", program_invocation_short_name,
            strerror(errno));
    _exit(APP_FAILED);
}

void app_settle(char **argv)
{
    argv[0] = program_invocation_short_name;
    keep_descriptors();
    on_exit(check_output, NULL);
    setvbuf(stderr, NULL, _IOLBF, 0);
    signal(SIGXFSZ, SIG_IGN);
}
