/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/peers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apps/common/sets.h"
#include "apps/common/status.h"
#include "apps/common/stop.h"

#include "config.h"

/* Simulated ranks are threads of one process, which have one environment, and one stdout. */
#if defined CAVS_SIMULATED && defined HAVE_MPI
#include <starpu_mpi.h>
#define SHARE_STREAMS true
#else
#define SHARE_STREAMS false
#endif

/* What launchers tell before MPI has started: Open MPI, and others by PMI. */
static int early_rank(void)
{
#if defined CAVS_SIMULATED && defined HAVE_MPI
    return starpu_mpi_world_rank();
#else
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);

        if (text)
            return atoi(text);
    }
    return 0;
#endif
}

bool peers_is_first(void)
{
    return early_rank() == 0;
}

/* (the end of the first one, which has spoken then, is a signal here) */
static bool first_is_silent(void)
{
    const struct timespec while_first_speaks = {3, 0};

    return !peers_is_first() && nanosleep(&while_first_speaks, NULL) == 0;
}

/* The beginning of what a silent rank would have said on stderr. */
static char unsaid[4096];

/* Whether ranks have compared what they are to do: a mistake that is found later is one of all. */
static bool compared;

/* The first one may be ended for the mistake of another before it has begun. */
static void tell_mistake(void)
{
    const char *after_name;

    if (fflush(stderr) == 0 && (after_name = strchr(unsaid, ':')) && first_is_silent())
        dprintf(STDERR_FILENO, "%.*s: rank %d%s", (int)(after_name - unsaid), unsaid, early_rank(),
                after_name);
}

/* A mistake on the command line ends a rank where it is found.  It may be this rank's alone, and
 * the others wait for it. */
static void end_by_mistake(int status, void *unused)
{
    (void)unused;
    if (status != APP_USAGE || compared)
        return;
    tell_mistake();
    cavs_runtime_abort(NULL, APP_USAGE);
}

/* The streams, not the descriptors: the watch over the ranks and MPI may still have to say
 * something. */
static void hush(void)
{
    FILE *nowhere = fopen("/dev/null", "w"), *kept = fmemopen(unsaid, sizeof unsaid - 1, "w");

    if (nowhere)
        stdout = nowhere;
    if (kept)
        stderr = kept;
}

void peers_hush(void)
{
    if (SHARE_STREAMS)
        return;
    if (!peers_is_first())
        hush();
    on_exit(end_by_mistake, NULL);
}

/* ---- the same everywhere --------------------------------------------------------------------- */

/* How many workers a rank has is its own affair. */
static bool is_own(const char *name)
{
    return strcmp(name, "workers") == 0;
}

static int compare_options(struct app *a, enum option_role role)
{
    json_t *all = options_to_json(&a->list, role), *value;
    const char *name;
    int rc = all ? 0 : CAVS_ENOMEM;

    json_object_foreach(all, name, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY), what[80];

        snprintf(what, sizeof what, "--%s", name);
        if (rc == 0 && !is_own(name))
            rc = text ? cavs_runtime_same(a->runtime, what, text) : CAVS_ENOMEM;
        free(text);
    }
    json_decref(all);
    return rc;
}

static int compare_data(struct app *a)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < APP_SETS; i++) {
        char text[40] = "none", what[40];
        uint64_t fingerprint;

        if (set_is_there(a, (enum app_set)i) &&
            (rc = set_fingerprint(a, (enum app_set)i, &fingerprint)) == 0)
            snprintf(text, sizeof text, "%016llx", (unsigned long long)fingerprint);
        snprintf(what, sizeof what, "the %s set (by its fingerprint)", app_set_names[i]);
        if (rc == 0)
            rc = cavs_runtime_same(a->runtime, what, text);
    }
    return rc;
}

static bool is_file(FILE *in)
{
    struct stat now;

    return fstat(fileno(in), &now) == 0 && S_ISREG(now.st_mode);
}

int peers_compare(struct app *a)
{
    int rc;

    compared = true;
    if (cavs_runtime_ranks(a->runtime) == 1)
        return 0;
    stop_share();
    if (a->options.predict && !is_file(a->predictions.in))
        return app_mistake(&a->error,
                           "--predict %s: each of %d ranks reads all of it, and only one has the "
                           "standard input or a pipe; name a file",
                           a->options.predict, cavs_runtime_ranks(a->runtime));
    rc = cavs_runtime_same(a->runtime, "the program", a->program->name);
    for (int role = 0; rc == 0 && role < OPTION_ROLES; role++)
        rc = compare_options(a, role);
    return rc == 0 ? compare_data(a) : rc;
}

/* ---- with each batch ------------------------------------------------------------------------- */

void peers_raise(struct app *a, unsigned bits)
{
    bits = peers_is_first() ? bits : 0;
    for (int i = 0; stop_signal_at(i); i++)
        bits |= stop_signal_at(i) == stop_noted() ? (unsigned)PEERS_SIGNALS << i : 0;
    if (bits)
        cavs_runtime_raise(a->runtime, bits);
}

unsigned peers_raised(struct app *a)
{
    unsigned bits = cavs_runtime_raised(a->runtime);
    int i = 0;

    while (stop_signal_at(i) && !(bits >> i & PEERS_SIGNALS))
        i++;
    if (stop_signal_at(i))
        stop_agree(stop_signal_at(i));
    return bits;
}

bool peers_go_on(struct app *a)
{
    peers_raised(a);
    peers_raise(a, 0);
    return !stop_signal();
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* There was a runtime; if there is none any more, nobody waits for this rank. */
static bool has_begun(const struct app *a)
{
    return a->report.ranks > 0;
}

void peers_fail(struct app *a, int rc)
{
    if (first_is_silent())
        dprintf(STDERR_FILENO, "%s: rank %d: %s\n", a->program->name, early_rank(),
                app_error_text(rc, &a->error));
    if (a->runtime || !has_begun(a))
        cavs_runtime_abort(a->runtime, app_error_status(&a->error));
}
