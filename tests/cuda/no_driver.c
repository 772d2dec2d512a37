/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_driver.c - exit status 0 where there is no CUDA driver, 1 where there is one.  It is linked
 * with what StarPU and the library need of CUDA, so that it does not even start where that does
 * not.
 */
#include <dlfcn.h>

int main(void)
{
    return dlopen("libcuda.so.1", RTLD_LAZY) != 0;
}
