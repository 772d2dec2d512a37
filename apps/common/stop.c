/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/stop.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {0, "none"}};

static volatile sig_atomic_t noted;
static bool shared;
static int agreed;

static void note_signal(int signal_number)
{
    noted = signal_number;
    for (int i = 0; signals[i].number; i++)
        signal(signals[i].number, SIG_DFL);
}

/* What was ignored stays ignored: a program started in the background of a shell has no use for ^C,
 * nor one started by nohup for the end of the terminal.
 * SA_RESTART: reading and writing go on, the run ends after its batch. */
static void catch_signal(int signal_number)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void stop_catch_signals(void)
{
    for (int i = 0; signals[i].number; i++)
        catch_signal(signals[i].number);
}

int stop_signal_at(int i)
{
    return signals[i].number;
}

int stop_noted(void)
{
    return noted;
}

void stop_share(void)
{
    shared = true;
}

void stop_agree(int signal_number)
{
    agreed = signal_number;
}

int stop_signal(void)
{
    return shared ? agreed : noted;
}

const char *stop_signal_name(void)
{
    int i = 0;

    while (signals[i].number && signals[i].number != stop_signal())
        i++;
    return signals[i].name;
}
