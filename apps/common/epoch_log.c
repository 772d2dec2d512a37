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

static void give_up(struct epoch_log *l, struct app *a, const char *why)
{
    fprintf(stderr, "%s: --log %s: %s; nothing more goes there\n", a->program->name, a->options.log,
            why);
    a->status = APP_FAILED;
    epoch_log_close(l);
}

static void write_line(struct epoch_log *l, struct app *a, const json_t *epoch)
{
    if (l->file && json_build_write(epoch, 12, cavs_file_stream(l->file)) < 0)
        give_up(l, a, strerror(ENOMEM));
}

/* The first line is on the disk before the file takes the place of an older one.  For those that
 * follow it is enough that they have left the program. */
static void flush_lines(struct epoch_log *l, struct app *a)
{
    FILE *to = cavs_file_stream(l->file);

    if (to && !l->is_there && cavs_file_commit(l->file) < 0)
        give_up(l, a, cavs_error_message());
    else if (to && l->is_there && (fflush(to) != 0 || ferror(to)))
        give_up(l, a, strerror(errno));
    else
        l->is_there = to;
}

void epoch_log_add(struct epoch_log *l, struct app *a, const json_t *epoch)
{
    write_line(l, a, epoch);
    flush_lines(l, a);
}

/* What is there already, or an empty file, is locked: nobody else may replace it. */
static int claim(struct epoch_log *l, struct app *a, const char *path)
{
    l->claim = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (l->claim < 0)
        return app_fail(&a->error, CAVS_EIO, "--log %s: %s", path, strerror(errno));
    if (!run_lock(l->claim))
        return app_fail(&a->error, CAVS_EIO, "--log %s: another run is writing there", path);
    return 0;
}

int epoch_log_open(struct epoch_log *l, struct app *a)
{
    const char *path = a->options.log;
    const json_t *epoch;
    size_t i;
    int rc;

    if (!path || !peers_is_first())
        return 0;
    rc = claim(l, a, path);
    if (rc == 0)
        rc = cavs_file_create(path, &l->file);
    if (rc < 0) {
        if (l->claim >= 0)
            close(l->claim);
        return rc;
    }
    json_array_foreach(a->report.history, i, epoch) write_line(l, a, epoch);
    if (json_array_size(a->report.history) > 0)
        flush_lines(l, a);
    return 0;
}

int epoch_log_leave_empty(struct app *a)
{
    struct epoch_log l = {0};
    int rc = epoch_log_open(&l, a);

    if (rc < 0 || !l.file)
        return rc;
    flush_lines(&l, a);
    if (l.is_there)
        app_notice(a, "%s is empty: --log has a line for each epoch, and there was none",
                   a->options.log);
    epoch_log_close(&l);
    return 0;
}

void epoch_log_close(struct epoch_log *l)
{
    if (!l->file)
        return;
    cavs_file_close(l->file);
    close(l->claim);
    l->file = NULL;
}
