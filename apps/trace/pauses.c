/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.c - the times in which FxT wrote its full buffer to disk while the program ran.  One
 * worker does that within a task, which then looks very long, and the others soon wait for it: a
 * reader has to know.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/trace/trace.h"

enum event { OTHER, BEGIN, END };

static enum event event_of(const char *name)
{
    if (strcmp(name, ": fxt_start_flush\n") == 0)
        return BEGIN;
    return strcmp(name, ": fxt_stop_flush\n") == 0 ? END : OTHER;
}

/* trace.rec has an event in lines: E: its kind, N: its name, ..., S: its time. */
void trace_read_pauses(const char *path, struct trace *t)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    double begun = -1;
    enum event event = OTHER;

    while (in && getline(&line, &size, in) >= 0) {
        if (line[0] == 'N') {
            event = event_of(line + 1);
        } else if (strncmp(line, "S:", 2) == 0 && event == BEGIN) {
            begun = strtod(line + 2, NULL);
        } else if (strncmp(line, "S:", 2) == 0 && event == END && begun >= 0) {
            t->pauses++;
            t->paused += strtod(line + 2, NULL) - begun;
            begun = -1;
        }
    }
    free(line);
    if (in)
        fclose(in);
}
