/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/epoch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/json_build.h"
#include "apps/common/peers.h"
#include "apps/common/run_lock.h"
#include "apps/common/status.h"

void epoch_log_add(struct epoch_log *l, struct app *a, const json_t *epoch)
{
    if (!l->to)
        return;
    if (json_build_write(epoch, 12, l->to) < 0)
        errno = ENOMEM;
    else if (fflush(l->to) == 0 && !ferror(l->to))
        return;
    fprintf(stderr, "%s: --log %s: %s; nothing more goes there\n", a->program->name, a->options.log,
            strerror(errno));
    a->status = APP_FAILED;
    epoch_log_close(l);
}

int epoch_log_open(struct epoch_log *l, struct app *a)
{
    const char *path = a->options.log;
    const json_t *epoch;
    size_t i;
    int fd;

    if (!path || !peers_is_first())
        return 0;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0 && !run_lock(fd)) {
        close(fd);
        return app_fail(&a->error, CAVS_EIO, "--log %s: another run is writing there", path);
    }
    if (fd >= 0 && (ftruncate(fd, 0) == 0 || errno == EINVAL))
        l->to = fdopen(fd, "w");
    if (!l->to) {
        int why = errno;

        if (fd >= 0)
            close(fd);
        return app_fail(&a->error, CAVS_EIO, "--log %s: %s", path, strerror(why));
    }
    json_array_foreach(a->report.history, i, epoch) epoch_log_add(l, a, epoch);
    return 0;
}

void epoch_log_close(struct epoch_log *l)
{
    if (l->to)
        fclose(l->to);
    l->to = NULL;
}
