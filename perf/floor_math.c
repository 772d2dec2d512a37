/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_math.c - the element-wise part of the hand-written models: one loop a cell, all of it in
 * registers.  A kernel file.
 */
#include "codelets/kernels/vector_math.h"

#include "codelets/products/simd.h"
#include "perf/floor.h"

/* ---- Tree-LSTM ------------------------------------------------------------------------------- */

CAVS__CLONES void floor_leaf_forward(int rows, int h, float *gate, const float *bias, float *tanh_c,
                                     const int *slot, float *c, float *state)
{
    for (int r = 0; r < rows; r++) {
        float *i_ = gate + (size_t)r * 3 * h, *o_ = i_ + h, *u_ = o_ + h;
        float *t_ = tanh_c + (size_t)r * h;
        float *c_ = c + (size_t)slot[r] * h, *h_ = state + (size_t)slot[r] * h;

#pragma omp simd
        for (int j = 0; j < h; j++) {
            const float i = ew_sigmoid(i_[j] + bias[j]);
            const float o = ew_sigmoid(o_[j] + bias[h + j]);
            const float u = ew_tanh(u_[j] + bias[2 * h + j]);
            const float cell = i * u, t = ew_tanh(cell);

            i_[j] = i, o_[j] = o, u_[j] = u, t_[j] = t;
            c_[j] = cell;
            h_[j] = o * t;
        }
    }
}

CAVS__CLONES void floor_inner_forward(int rows, int h, float *gate, const float *bias,
                                      const float *bias_f, const float *children, float *tanh_c,
                                      const int *slot, float *c, float *state)
{
    for (int r = 0; r < rows; r++) {
        float *i_ = gate + (size_t)r * 5 * h, *o_ = i_ + h, *u_ = o_ + h;
        float *l_ = u_ + h, *r_ = l_ + h, *t_ = tanh_c + (size_t)r * h;
        const float *cl = children + (size_t)r * 2 * h, *cr = cl + h;
        float *c_ = c + (size_t)slot[r] * h, *h_ = state + (size_t)slot[r] * h;

#pragma omp simd
        for (int j = 0; j < h; j++) {
            const float i = ew_sigmoid(i_[j] + bias[j]);
            const float o = ew_sigmoid(o_[j] + bias[h + j]);
            const float u = ew_tanh(u_[j] + bias[2 * h + j]);
            const float fl = ew_sigmoid(l_[j] + bias_f[j]);
            const float fr = ew_sigmoid(r_[j] + bias_f[j]);
            const float cell = i * u + fl * cl[j] + fr * cr[j], t = ew_tanh(cell);

            i_[j] = i, o_[j] = o, u_[j] = u, l_[j] = fl, r_[j] = fr, t_[j] = t;
            c_[j] = cell;
            h_[j] = o * t;
        }
    }
}

CAVS__CLONES void floor_leaf_backward(int rows, int h, float *gate, const float *tanh_c,
                                      const int *slot, const float *dh, const float *dc)
{
    for (int r = 0; r < rows; r++) {
        float *i_ = gate + (size_t)r * 3 * h, *o_ = i_ + h, *u_ = o_ + h;
        const float *t_ = tanh_c + (size_t)r * h;
        const float *dh_ = dh + (size_t)slot[r] * h, *dc_ = dc + (size_t)slot[r] * h;

#pragma omp simd
        for (int j = 0; j < h; j++) {
            const float i = i_[j], o = o_[j], u = u_[j], t = t_[j];
            const float d = dc_[j] + dh_[j] * o * (1 - t * t);

            i_[j] = d * u * i * (1 - i);
            o_[j] = dh_[j] * t * o * (1 - o);
            u_[j] = d * i * (1 - u * u);
        }
    }
}

CAVS__CLONES void floor_inner_backward(int rows, int h, float *gate, const float *children,
                                       const float *tanh_c, const int *slot, const float *dh,
                                       const float *dc, float *dchildren)
{
    for (int r = 0; r < rows; r++) {
        float *i_ = gate + (size_t)r * 5 * h, *o_ = i_ + h, *u_ = o_ + h;
        float *l_ = u_ + h, *r_ = l_ + h;
        const float *t_ = tanh_c + (size_t)r * h;
        const float *cl = children + (size_t)r * 2 * h, *cr = cl + h;
        const float *dh_ = dh + (size_t)slot[r] * h, *dc_ = dc + (size_t)slot[r] * h;
        float *dl = dchildren + (size_t)r * 2 * h, *dr = dl + h;

#pragma omp simd
        for (int j = 0; j < h; j++) {
            const float i = i_[j], o = o_[j], u = u_[j], fl = l_[j], fr = r_[j], t = t_[j];
            const float d = dc_[j] + dh_[j] * o * (1 - t * t);

            i_[j] = d * u * i * (1 - i);
            o_[j] = dh_[j] * t * o * (1 - o);
            u_[j] = d * i * (1 - u * u);
            l_[j] = d * cl[j] * fl * (1 - fl);
            r_[j] = d * cr[j] * fr * (1 - fr);
            dl[j] = d * fl;
            dr[j] = d * fr;
        }
    }
}

/* Row-wise maximum and sum are too short for vectors; the exponentials are taken over the tile. */
CAVS__CLONES double floor_softmax(int rows, float *z, const float *bias, const int *label)
{
    enum { N = FLOOR_CLASSES };
    float e[FLOOR_TILE * N];
    double loss = 0;

    for (int r = 0; r < rows; r++) {
        float *row = z + r * N, top = row[0] + bias[0];

        for (int j = 0; j < N; j++) {
            row[j] += bias[j];
            top = row[j] > top ? row[j] : top;
        }
        for (int j = 0; j < N; j++)
            e[r * N + j] = row[j] -= top;
    }
#pragma omp simd
    for (int j = 0; j < rows * N; j++)
        e[j] = ew_exp(e[j]);
    for (int r = 0; r < rows; r++) {
        float *row = z + r * N, sum = 0;

        for (int j = 0; j < N; j++)
            sum += e[r * N + j];
        loss += (double)logf(sum) - (double)row[label[r]];
        for (int j = 0; j < N; j++)
            row[j] = e[r * N + j] / sum - (float)(j == label[r]);
    }
    return loss;
}

/* ---- Tree-FC --------------------------------------------------------------------------------- */

CAVS__CLONES void floor_relu_forward(int rows, int h, const float *y, const float *bias,
                                     const int *slot, float *state)
{
    for (int r = 0; r < rows; r++) {
        const float *y_ = y + (size_t)r * h;
        float *s_ = state + (size_t)slot[r] * h;

#pragma omp simd
        for (int j = 0; j < h; j++)
            s_[j] = y_[j] + bias[j] > 0 ? y_[j] + bias[j] : 0;
    }
}

CAVS__CLONES void floor_relu_backward(int rows, int h, float *y, const int *slot,
                                      const float *state, const float *dstate)
{
    for (int r = 0; r < rows; r++) {
        float *y_ = y + (size_t)r * h;
        const float *s_ = state + (size_t)slot[r] * h, *d_ = dstate + (size_t)slot[r] * h;

#pragma omp simd
        for (int j = 0; j < h; j++)
            y_[j] = s_[j] > 0 ? d_[j] : 0;
    }
}

CAVS__CLONES double floor_square(int n, const float *x, float *dx)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++) {
        dx[j] = x[j];
        sum += (double)x[j] * x[j];
    }
    return sum / 2;
}

/* ---- both ------------------------------------------------------------------------------------ */

CAVS__CLONES void floor_column_sums(int rows, int cols, const float *x, float *sums)
{
    for (int r = 0; r < rows; r++) {
        const float *x_ = x + (size_t)r * cols;

#pragma omp simd
        for (int j = 0; j < cols; j++)
            sums[j] += x_[j];
    }
}
