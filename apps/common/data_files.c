/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/data_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FOLDER "data"

int data_file_find(const char *given, const char *fallback, const char *option, char **path,
                   struct app_error *e)
{
    const char *folder = getenv("CAVS_DATA");
    bool is_set = folder && *folder;
    int length = given ? asprintf(path, "%s", given)
                       : asprintf(path, "%s/%s", is_set ? folder : DEFAULT_FOLDER, fallback);

    if (length < 0) {
        *path = NULL;
        return app_fail(e, CAVS_ENOMEM, "no memory for a file name");
    }
    if (access(*path, R_OK) == 0)
        return 0;
    if (given)
        return app_fail(e, CAVS_EIO, "%s: %s", given, strerror(errno));
    return app_fail(e, CAVS_EIO,
                    "no data set at %s (%s); doc/data.md says where it comes from. Name a file "
                    "with --%s, or the "
                    "folder of all sets with the environment variable CAVS_DATA",
                    *path, is_set ? "from CAVS_DATA" : "CAVS_DATA is not set", option);
}
