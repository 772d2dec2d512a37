/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc.h - CUDA source text becomes code for a GPU; needs no GPU and no driver.  Each of these
 * opens the library if that has not been done, and may be called by any thread. */
#ifndef CAVS_CODELETS_DEVICE_NVRTC_H
#define CAVS_CODELETS_DEVICE_NVRTC_H

#include <stddef.h>

/* architecture: "sm_90", or "compute_90" for code that a newer GPU's driver can translate.  0 and
 * the code, to be freed; or -1, and log holds the compiler's first complaint. */
int cavs__nvrtc_compile(const char *source, const char *architecture, void **code, size_t *size,
                        char *log, size_t log_size);
/* Writes the architecture to compile for on a GPU of that compute capability (90 for 9.0): its own,
 * or the newest that this NVRTC knows. */
void cavs__nvrtc_architecture(int capability, char *to, size_t size);
/* NULL: NVRTC is there; or why it is not. */
const char *cavs__nvrtc_missing(void);
/* 13020 for 13.2; 0: it is not there. */
int cavs__nvrtc_version(void);

#endif
