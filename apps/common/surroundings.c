/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

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

void app_settle(void)
{
    keep_descriptors();
    signal(SIGXFSZ, SIG_IGN);
}
