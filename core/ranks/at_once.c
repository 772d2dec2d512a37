/* SPDX-License-Identifier: Apache-2.0 */
/*
 * at_once.c - which messages MPI sends at once.
 *
 * Between ranks on one machine, Open MPI copies messages of up to so many bytes at once, by way of
 * memory that both share; for longer ones the receiver has to answer first, and then asks the
 * system for the sender's pages.  Messages of a batch are longer than the usual 4 KB, and few.
 *
 * What the user has set stays.  A variable of the environment goes before Open MPI's files, so
 * these are looked at first.  Open MPI itself would tell (MPI_T), but takes 0.2 s more to start
 * then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#include "core/ranks/mpi.h"

/* The parameter's names in releases up to 4, and from 5 on. */
static const char *const names[] = {"btl_vader_eager_limit", "btl_sm_eager_limit"};
enum { NAMES = sizeof names / sizeof *names };

static bool is_set(const char *line, const char *name)
{
    size_t n = strlen(name);

    line += strspn(line, " \t");
    return strncmp(line, name, n) == 0 && strchr(" \t=", line[n]);
}

/* A line that begins with one of them. */
static bool says(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (f && !found && getline(&line, &room, f) > 0) {
        for (int i = 0; i < NAMES; i++)
            found |= is_set(line, names[i]);
    }
    if (f)
        fclose(f);
    free(line);
    return found;
}

/* Files that the user names instead of the usual ones, or besides them, are not searched. */
static bool names_files(void)
{
    static const char *const words[] = {"mca_param_files", "mca_base_param_files",
                                        "mca_base_param_file_prefix"};
    bool any = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char name[64];

        snprintf(name, sizeof name, "OMPI_MCA_%s", words[i]);
        any |= getenv(name) != NULL;
    }
    return any;
}

static bool is_users(void)
{
    const char *home = getenv("HOME");
    char path[4096];

    snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", home ? home : "");
    return names_files() || says(path) || says(CAVS_MPI_SETTINGS "/openmpi-mca-params.conf");
}

void cavs__ranks_send_at_once(void)
{
    if (is_users())
        return;
    for (int i = 0; i < NAMES; i++) {
        char name[64];

        snprintf(name, sizeof name, "OMPI_MCA_%s", names[i]);
        setenv(name, "131072", 0);
    }
}
