/* SPDX-License-Identifier: Apache-2.0 */
/* surroundings.h - what the caller of a program left it: closed descriptors, a limit to the size of
 * files. */
#ifndef CAVS_APPS_SURROUNDINGS_H
#define CAVS_APPS_SURROUNDINGS_H

/* To be called before anything is opened.  What is opened would get the number of a closed standard
 * descriptor, and then what the program prints: these are opened, and reading from and writing to
 * them stays an error.  Writing beyond the largest size of a file (ulimit -f) is an error, like
 * that on a full disk, and no longer the end of the process. */
void app_settle(void);

#endif
