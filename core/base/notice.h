/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notice.h - what goes on otherwise than asked for, without being an error: a fused group that
 * cannot be compiled, a device that is left out, a setting of the environment that means nothing.
 *
 * Each text is given once in a process, so that a notice may stand where something is done many
 * times.  They are kept: whoever comes to listen later gets those that were given before.  Any
 * thread may give one.
 */
#ifndef CAVS_CORE_BASE_NOTICE_H
#define CAVS_CORE_BASE_NOTICE_H

/* Gives a notice: one line, without "." and newline at its end. */
void cavs__notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Gives each line of a text; NULL is none. */
void cavs__notice_lines(const char *text);

/* Who listens, NULL: nobody.  Calls come one at a time, in whichever thread gives the notice. */
void cavs__notice_listen(void (*listener)(const char *text, void *context), void *context);

#endif
