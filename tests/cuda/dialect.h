/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - makes C++ of CUDA's text: goes before it; the table of kernels goes behind it
 * (cunvrtc.c).  Only what the library's text uses is here.
 */
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gpu_kernel.h"

extern char __start_gpu_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_gpu_shared[] __attribute__((weak, visibility("hidden")));
extern "C" {
gpu_place gpu_place = {0, {0, 0}, {0, 0}, 0, 0, nullptr, __start_gpu_shared, __stop_gpu_shared};
}

/* What a kernel is to the launcher. */
template <typename F> struct gpu_caller;
template <typename... A> struct gpu_caller<void (*)(A...)> {
    static constexpr uint16_t sizes[] = {sizeof(A)..., 0};
    static constexpr bool pointers[] = {std::is_pointer<A>::value..., false};
    static constexpr int arguments = sizeof...(A);
    template <void (*f)(A...), size_t... I> static void spread(void **a, std::index_sequence<I...>)
    {
        f(*(A *)a[I]...);
    }
    template <void (*f)(A...)> static void run(void **a)
    {
        spread<f>(a, std::index_sequence_for<A...>());
    }
};

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(items)
#define __shared__      static __attribute__((section("gpu_shared")))
#define __syncthreads() gpu_place.barrier(__LINE__)
#define __align__(n)    __attribute__((aligned(n)))
#define IN_TURN         gpu_place.waited = gpu_place.waited + 1

struct alignas(16) float4 {
    float x, y, z, w;
};

static struct {
    struct {
        operator unsigned() const
        {
            return gpu_place.thread;
        }
    } x;
} threadIdx;
#define blockIdx (gpu_index{gpu_place.block[0], gpu_place.block[1]})
#define gridDim  (gpu_index{gpu_place.blocks[0], gpu_place.blocks[1]})
struct gpu_index {
    unsigned x, y;
};

static inline unsigned __float_as_uint(float x)
{
    unsigned bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __uint_as_float(unsigned bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
