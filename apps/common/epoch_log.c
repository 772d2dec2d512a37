/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/epoch_log.h"

#include <errno.h>
#include <string.h>

#include "apps/common/json_build.h"
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
    const json_t *epoch;
    size_t i;

    if (!a->options.log)
        return 0;
    l->to = fopen(a->options.log, "w");
    if (!l->to)
        return app_fail(&a->error, CAVS_EIO, "--log %s: %s", a->options.log, strerror(errno));
    json_array_foreach(a->report.history, i, epoch) epoch_log_add(l, a, epoch);
    return 0;
}

void epoch_log_close(struct epoch_log *l)
{
    if (l->to)
        fclose(l->to);
    l->to = NULL;
}
