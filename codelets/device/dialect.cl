/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.cl - what OpenCL C and CUDA spell differently. The text of kernels.cl and of the fused
 * groups follows it and is the same for both.
 *
 * A work-group has one dimension and a fixed number of work-items; groups are counted in two.
 */
#ifdef __OPENCL_VERSION__
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define HAS_DOUBLE 1
#endif
#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void
#define EW_FN static inline
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_POINTER __local
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_OF_ALL_MEMORY barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ITEM ((int)get_local_id(0))
#define GROUP_X ((int)get_group_id(0))
#define GROUP_Y ((int)get_group_id(1))
#define GROUPS_X ((int)get_num_groups(0))
#define MULTIPLY_HIGH(a, b) mul_hi((uint)(a), (uint)(b))
#ifdef ON_CPU /* has few registers to gain, and its compiler takes long */
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
EW_FN unsigned ew_bits(float x) { return as_uint(x); }
EW_FN float ew_float(unsigned x) { return as_float(x); }
EW_FN float ew_sqrt(float x) { return sqrt(x); }
EW_FN float ew_abs(float x) { return fabs(x); }
#else
#define HAS_DOUBLE 1
#define KERNEL(items) extern "C" __global__ void __launch_bounds__(items)
#define EW_FN static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_POINTER
#define BARRIER __syncthreads()
#define BARRIER_OF_ALL_MEMORY __syncthreads()
#define ITEM ((int)threadIdx.x)
#define GROUP_X ((int)blockIdx.x)
#define GROUP_Y ((int)blockIdx.y)
#define GROUPS_X ((int)gridDim.x)
#define MULTIPLY_HIGH(a, b) __umulhi(a, b)
#define UNROLL _Pragma("unroll")
EW_FN unsigned ew_bits(float x) { return __float_as_uint(x); }
EW_FN float ew_float(unsigned x) { return __uint_as_float(x); }
EW_FN float ew_sqrt(float x) { return sqrtf(x); }
EW_FN float ew_abs(float x) { return fabsf(x); }
#endif

/* An operand: rows of x from x_at on, x_ld apart (0: one row for all); with x_ix >= 0 row r is the
 * one that index[x_ix + r] names, and reads as zeros where that is negative. */
#define VIEW(x) GLOBAL float *x, long x##_at, int x##_ld, int x##_ix
#define ROW(x, r) view_row(index, x##_at, x##_ld, x##_ix, r)

/* Where row r begins, or -1. */
EW_FN long view_row(GLOBAL const int *index, long at, int ld, int ix, int r)
{
    int row = ix < 0 ? r : index[ix + r];

    return row < 0 ? -1 : at + (long)row * ld;
}
