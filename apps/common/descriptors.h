/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.h - standard input, output and error are there, even if the caller closed them. */
#ifndef CAVS_APPS_DESCRIPTORS_H
#define CAVS_APPS_DESCRIPTORS_H

/* To be called before anything is opened, which would otherwise get the number of a closed one, and then what the
 * program prints.  Reading from and writing to those that were closed stays an error. */
void app_keep_descriptors(void);

#endif
