/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h - for cppcheck, which reads no system headers: macros of jansson that make loops. */
#ifndef CAVS_TESTS_STYLE_LOOPS_H
#define CAVS_TESTS_STYLE_LOOPS_H

#define json_array_foreach(array, i, value) \
    for ((i) = 0; ((value) = json_array_get((array), (i))) != 0; (i)++)
#define json_object_foreach(object, key, value)                                        \
    for (void *at = json_object_iter(object);                                          \
         ((key) = json_object_iter_key(at)) && ((value) = json_object_iter_value(at)); \
         at = json_object_iter_next((object), at))

#endif
