/* SPDX-License-Identifier: Apache-2.0 */
/* task_model.c - see task_model.h. */
#include "codelets/task_model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct model {
    struct starpu_perfmodel perf; /* perf.symbol is the name; first */
    struct cavs__device_work (*device_work)(struct starpu_task *task);
    struct model *next;
};

static struct model *models;
static bool wanted = true;
static pthread_mutex_t models_lock = PTHREAD_MUTEX_INITIALIZER;

void cavs__task_models_wanted(bool are_wanted)
{
    pthread_mutex_lock(&models_lock);
    wanted = are_wanted;
    pthread_mutex_unlock(&models_lock);
}

static struct model *find_model(const char *name)
{
    struct model *m = models;

    while (m && strcmp(m->perf.symbol, name) != 0)
        m = m->next;
    return m;
}

static struct model *new_model(const char *name, const struct cavs__task_measure *measure)
{
    struct model *m = calloc(1, sizeof *m);
    char *symbol = strdup(name);

    if (!m || !symbol) {
        free(m);
        free(symbol);
        return NULL;
    }
    m->perf.type = STARPU_HISTORY_BASED;
    m->perf.symbol = symbol;
    m->perf.footprint = measure->footprint;
    m->perf.size_base = measure->size;
    m->device_work = measure->device_work;
#ifdef CAVS_SIMULATED
    cavs__simulate_model(&m->perf, measure);
#endif
    m->next = models;
    models = m;
    return m;
}

struct starpu_perfmodel *cavs__task_model(const char *name,
                                          const struct cavs__task_measure *measure)
{
    struct model *m;

    pthread_mutex_lock(&models_lock);
    m = wanted ? find_model(name) : NULL;
    if (wanted && !m)
        m = new_model(name, measure);
    pthread_mutex_unlock(&models_lock);
    return m ? &m->perf : NULL;
}

uint32_t cavs__size_class(uint64_t size)
{
    uint32_t log2 = 0;

    while (size >> log2 > 7)
        log2++;
    return log2 << 3 | (uint32_t)(size >> log2);
}

struct cavs__device_work cavs__task_device_work(struct starpu_task *task)
{
    const struct model *m = (const struct model *)task->cl->model;

    return m && m->device_work ? m->device_work(task) : (struct cavs__device_work){0};
}
