/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_to_core.c - how long a cache line takes from the first core to each other one.
 *
 *     perf/core_to_core        prints the median of all pairs, in nanoseconds
 *
 * Two threads hand a counter to each other.  On a virtual machine the figure changes while nothing
 * changes inside: the host moves its processors to places that share a cache (some 30 ns) and to
 * places that do not (150 ns and more).  Small tasks, which hand much over and compute little,
 * take up to twice as long then.  perf/bench prints it beside each workload.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HANDOVERS = 20000, MOST_CORES = 64 };

struct side {
    int core, number;
    atomic_int *turn;
    double seconds;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *hand_over(void *arg)
{
    struct side *s = arg;
    cpu_set_t set;
    double begin;

    CPU_ZERO(&set);
    CPU_SET(s->core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set); /* refused: measured where it runs */
    begin = now();
    for (int i = 0; i < HANDOVERS; i++) {
        while (atomic_load_explicit(s->turn, memory_order_acquire) != s->number)
            ;
        atomic_store_explicit(s->turn, !s->number, memory_order_release);
    }
    s->seconds = now() - begin;
    return NULL;
}

/* Nanoseconds one way; negative: no threads. */
static double between(int first, int second)
{
    static _Alignas(128) atomic_int turn;
    struct side side[2] = {{first, 0, &turn, 0}, {second, 1, &turn, 0}};
    pthread_t thread;

    atomic_store(&turn, 0);
    if (pthread_create(&thread, NULL, hand_over, &side[1]))
        return -1;
    hand_over(&side[0]);
    pthread_join(thread, NULL);
    return 1e9 * side[0].seconds / (2.0 * HANDOVERS);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    cpu_set_t allowed;
    double ns[MOST_CORES];
    int first = -1, n = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return perror("core_to_core: sched_getaffinity"), 1;
    for (int core = 0; core < CPU_SETSIZE && n < MOST_CORES; core++) {
        if (!CPU_ISSET(core, &allowed))
            continue;
        if (first < 0)
            first = core;
        else if ((ns[n] = between(first, core)) >= 0)
            n++;
    }
    if (n == 0)
        return fputs("core_to_core: there is one core only\n", stderr), 1;
    qsort(ns, (size_t)n, sizeof *ns, compare);
    printf("%.0f\n", ns[n / 2]);
    return 0;
}
