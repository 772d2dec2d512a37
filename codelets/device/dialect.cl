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
#define PRIVATE_POINTER __private
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_OF_ALL_MEMORY barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ITEM ((int)get_local_id(0))
#define GROUP_X ((int)get_group_id(0))
#define GROUP_Y ((int)get_group_id(1))
#define GROUPS_X ((int)get_num_groups(0))
#define GROUPS_Y ((int)get_num_groups(1))
#define MULTIPLY_HIGH(a, b) mul_hi((uint)(a), (uint)(b))
#ifdef ON_CPU /* has few registers to gain, and its compiler takes long */
#define UNROLL
#define NO_UNROLL
#else
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#endif
EW_FN unsigned ew_bits(float x) { return as_uint(x); }
EW_FN float ew_float(unsigned x) { return as_float(x); }
EW_FN float ew_sqrt(float x) { return sqrt(x); }
EW_FN float ew_abs(float x) { return fabs(x); }

#define IN_TURN
#define LOCAL_OF_FOURS __local
#define OF_FOURS(p, at) 1
#define STAGES_OF(n) 1
#define COPIES_BEGUN
#define COPIES_WAIT(n)
EW_FN float4 load_four(LOCAL_POINTER const float *p) { return vload4(0, p); }
EW_FN float4 four_at(GLOBAL const float *x, long from, int c)
{
    return from < 0 ? (float4)(0.0f) : vload4(0, x + from + c);
}
EW_FN void put_four(GLOBAL float *to, float4 numbers) { vstore4(numbers, 0, to); }
EW_FN void copy_one(LOCAL_POINTER float *to, GLOBAL const float *from, bool there)
{
    *to = there ? *from : 0.0f;
}
EW_FN void copy_four(LOCAL_POINTER float *to, GLOBAL const float *from, bool there)
{
    vstore4(there ? vload4(0, from) : (float4)(0.0f), 0, to);
}
#else
#define HAS_DOUBLE 1
#define KERNEL(items) extern "C" __global__ void __launch_bounds__(items)
#define EW_FN static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_POINTER
#define PRIVATE_POINTER
#define BARRIER __syncthreads()
#define BARRIER_OF_ALL_MEMORY __syncthreads()
#define ITEM ((int)threadIdx.x)
#define GROUP_X ((int)blockIdx.x)
#define GROUP_Y ((int)blockIdx.y)
#define GROUPS_X ((int)gridDim.x)
#define GROUPS_Y ((int)gridDim.y)
#define MULTIPLY_HIGH(a, b) __umulhi(a, b)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
EW_FN unsigned ew_bits(float x) { return __float_as_uint(x); }
EW_FN float ew_float(unsigned x) { return __uint_as_float(x); }
EW_FN float ew_sqrt(float x) { return sqrtf(x); }
EW_FN float ew_abs(float x) { return fabsf(x); }

#ifndef IN_TURN
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
#define IN_TURN asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory")
#else
#define IN_TURN
#endif
#endif
#define LOCAL_OF_FOURS __shared__ __align__(16)
#define OF_FOURS(p, at) ((size_t)((p) + (at)) % 16 == 0)
#define STAGES_OF(n) n
EW_FN float4 load_four(const float *p) { return *(const float4 *)p; }
EW_FN float4 four_at(const float *x, long from, int c)
{
    return from < 0 ? float4{0.0f, 0.0f, 0.0f, 0.0f} : *(const float4 *)(x + from + c);
}
EW_FN void put_four(float *to, float4 numbers) { *(float4 *)to = numbers; }
EW_FN void operator+=(float4 &to, float4 more)
{
    to.x += more.x;
    to.y += more.y;
    to.z += more.z;
    to.w += more.w;
}
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
#define COPIES_BEGUN asm volatile("cp.async.commit_group;")
#define COPIES_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n))
EW_FN void copy_one(float *to, const float *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(there ? 4 : 0));
}
EW_FN void copy_four(float *to, const float *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(there ? 16 : 0));
}
#else
#define COPIES_BEGUN
#define COPIES_WAIT(n)
EW_FN void copy_one(float *to, const float *from, bool there) { *to = there ? *from : 0.0f; }
EW_FN void copy_four(float *to, const float *from, bool there)
{
    for (int i = 0; i < 4; i++)
        to[i] = there ? from[i] : 0.0f;
}
#endif
#endif

/* SHUFFLE(mine, bit): the number of the item whose place differs in this bit, one of the lowest
 * five; where it is not there, items write and read local memory. */
#ifdef __CUDA_ARCH__
#define SHUFFLE(mine, bit) __shfl_xor_sync(0xffffffffu, mine, bit)
#endif

/* IN_TURN is what every kernel begins with. Groups of a launch may come onto a GPU while those of
 * the one before are still at work there (sm_90 and later; cuda.c): here they wait until it has
 * ended and all that it wrote can be read. Then the next launch may send its groups. So each waits
 * for the one before, which has waited for all others. */

/* Copies of one number and of four to local memory, of zeros where there is nothing to copy.  Those
 * that an item has begun until COPIES_BEGUN are there after COPIES_WAIT(n), but for the last n
 * groups of them, and for others after a barrier behind it.  With STAGES_OF(1) they are there at
 * once: nothing is gained by beginning them early.  OF_FOURS: the address suits four numbers at
 * once, as copies and as four_at() and put_four() have them. */

/* The numbers of an item, where groups of 256 share rows: 2^lanes items each row, one beside the
 * other. Its columns are `column`, column + step, .. ; groups that share rows are counted in y. */
#define ROWS int rows, int n, int lanes
#define TAKE_ROW                                                                   \
    int r = (GROUP_X << (8 - lanes)) + (ITEM >> lanes);                            \
    int column = (GROUP_Y << lanes) + (ITEM & ((1 << lanes) - 1)), step = GROUPS_Y << lanes;

/* The same where no groups share a row, and all its items have to come along to the last barrier:
 * those of no row take the last one again, and store nothing. */
#define TAKE_WHOLE_ROW                                                             \
    TAKE_ROW                                                                       \
    bool here = r < rows;                                                          \
    r = here ? r : rows - 1;

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
