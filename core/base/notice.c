/* SPDX-License-Identifier: Apache-2.0 */
/* notice.c - a short list of texts without repetitions, and who wants to hear of them. */
#include "core/base/notice.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST   64 /* a process that has so much to say is not listened to any more */
#define LENGTH 512

/* A listener may do what gives a notice: the lock is recursive. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char given[MOST][LENGTH];
static int ngiven;
static void (*hear)(const char *text, void *context);
static void *hearer;

static int is_new(const char *text)
{
    for (int i = 0; i < ngiven; i++)
        if (strcmp(given[i], text) == 0)
            return 0;
    return ngiven < MOST;
}

static void give(const char *text)
{
    pthread_mutex_lock(&lock);
    if (is_new(text)) {
        char *kept = strcpy(given[ngiven++], text);

        if (hear)
            hear(kept, hearer);
    }
    pthread_mutex_unlock(&lock);
}

void cavs__notice(const char *format, ...)
{
    char text[LENGTH];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    give(text);
}

void cavs__notice_lines(const char *text)
{
    for (int n; text && *text; text += n + (text[n] == '\n')) {
        n = (int)strcspn(text, "\n");
        if (n > 0)
            cavs__notice("%.*s", n, text);
    }
}

void cavs__notice_listen(void (*listener)(const char *text, void *context), void *context)
{
    pthread_mutex_lock(&lock);
    hear = listener;
    hearer = context;
    for (int i = 0; hear && i < ngiven; i++)
        hear(given[i], hearer);
    pthread_mutex_unlock(&lock);
}
