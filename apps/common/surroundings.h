/* SPDX-License-Identifier: Apache-2.0 */
/* surroundings.h - what the caller of a program left it: a name, closed descriptors, a limit to the
 * size of files, and an output that may be full. */
#ifndef CAVS_APPS_SURROUNDINGS_H
#define CAVS_APPS_SURROUNDINGS_H

/* To be called first.  argv[0] becomes the name that messages say, without where the program lies.
 * What is opened would get the number of a closed standard descriptor, and then what the program
 * prints: these are opened, and reading from and writing to them stays an error.  Lines go to
 * standard error as a whole, since what other processes write there would come between the pieces
 * of one (mpirun mixes in standard output).  Writing beyond the largest size of a file (ulimit -f)
 * is an error, like that on a full disk, and no longer the end of the process.  A process that
 * would end with status 0, but whose standard output did not take all, says so and ends with
 * APP_FAILED: for --help and --version, which end it in the midst of their work. */
void app_settle(char **argv);

#endif
