/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/stop.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {0, "none"}};

static volatile sig_atomic_t noted;
static bool shared;
static int agreed;

/* The descriptor that a signal ends, and an empty file to put in its place. */
static volatile sig_atomic_t reading = -1, ended;
static int nothing = -1;

/* The program's name until it has something to keep. */
static const char *volatile preparing;

static const char *name_of(int signal_number)
{
    int i = 0;

    while (signals[i].number && signals[i].number != signal_number)
        i++;
    return signals[i].name;
}

/* In a signal handler nothing but write() may speak. */
static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written;
}

static void end_at_once(int signal_number)
{
    say(preparing);
    say(": stopped by ");
    say(name_of(signal_number));
    say(", before the first batch\n");
    _exit(128 + signal_number);
}

static void note_signal(int signal_number)
{
    if (preparing)
        end_at_once(signal_number);
    noted = signal_number;
    if (reading >= 0)
        ended = dup2(nothing, reading) >= 0;
    for (int i = 0; signals[i].number; i++)
        signal(signals[i].number, SIG_DFL);
}

/* What was ignored stays ignored: a program started in the background of a shell has no use for ^C,
 * nor one started by nohup for the end of the terminal.
 * SA_RESTART: reading and writing go on, from what the descriptor is by then; the run ends after
 * its batch. */
static void catch_signal(int signal_number)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void stop_catch_signals(const char *program)
{
    preparing = program;
    for (int i = 0; signals[i].number; i++)
        catch_signal(signals[i].number);
}

void stop_after_batches(void)
{
    preparing = NULL;
}

void stop_ends_reading(FILE *in)
{
    struct stat st;
    bool waits = in && fstat(fileno(in), &st) == 0 && !S_ISREG(st.st_mode);

    if (waits && nothing < 0)
        nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    reading = waits && nothing >= 0 ? fileno(in) : -1;
}

bool stop_has_ended_reading(void)
{
    return ended;
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
    return name_of(stop_signal());
}
