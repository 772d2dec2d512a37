/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.c - what model files and checkpoints say of themselves; see metadata.h. */
#include "core/files/metadata.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/points.h"
#include "core/base/error.h"
#include "core/base/json_text.h"

/* ---- writing ---- */

int cavs_session_note(struct cavs_session *s, const char *name, const char *text)
{
    if (!s || !name || !*name)
        return cavs__fail(CAVS_EINVAL, "cavs_session_note: no session or name");
    if (cavs__is_own(name) || strcmp(name, "format") == 0)
        return cavs__fail(
            CAVS_EINVAL,
            "cavs_session_note: the name %s is taken: those that begin with " CAVS__OWN_PREFIX
            " are the library's, 'format' names the kind of file",
            name);
    if (!text) {
        json_object_del(s->notes, name);
        return CAVS_OK;
    }
    if (!cavs__is_utf8(name) || !cavs__is_utf8(text))
        return cavs__fail(CAVS_EINVAL, "cavs_session_note: the name or text is not UTF-8");
    if (!s->notes)
        s->notes = json_object();
    return json_object_set_new(s->notes, name, json_string(text)) == 0 ? CAVS_OK
                                                                       : cavs__fail_nomem(name, 0);
}

json_t *cavs__describe(const struct cavs_session *s, const char *format)
{
    json_t *metadata = s->notes ? json_copy(s->notes) : json_object();
    bool whole = json_object_size(metadata) == json_object_size(s->notes); /* it does not say */

    if (whole && json_object_set_new(metadata, "format", json_string(format)) == 0)
        return metadata;
    json_decref(metadata);
    return NULL;
}

/* Metadata that the session writes by itself; its notes have names of their own. */
static bool set_own(json_t *metadata, const char *name, const char *text)
{
    char own[64];

    snprintf(own, sizeof own, CAVS__OWN_PREFIX "%s", name);
    return json_object_set_new(metadata, own, json_string(text)) == 0;
}

/* Writes the array as text, and releases it. whole: no element of it is missing. */
static bool set_array(json_t *metadata, const char *name, json_t *array, bool whole)
{
    char *text = whole ? cavs__json_text(array, JSON_COMPACT) : NULL;
    bool set = text && set_own(metadata, name, text);

    free(text);
    json_decref(array);
    return set;
}

static bool set_metrics(json_t *metadata, const struct cavs_model *m)
{
    json_t *names = json_array();
    bool whole = true;

    for (int i = 0; whole && i < m->nmetrics; i++)
        whole = json_array_append_new(names, json_string(m->metrics[i]->name)) == 0;
    return set_array(metadata, "metric_names", names, whole);
}

static bool set_tapes(json_t *metadata, const struct cavs_session *s)
{
    json_t *all = json_array();
    bool whole = true;

    for (const struct cavs__session_tape *t = s->tapes; whole && t; t = t->next)
        whole = json_array_append_new(all, t->describe(t)) == 0;
    return set_array(metadata, "tapes", all, whole);
}

/* Numbers go as text: the format has strings only, and %a loses nothing. */
json_t *cavs__describe_run(const struct cavs_session *s, const char *note)
{
    char step[32], seed[32], lr[64], optimizer[16], shards[16];
    json_t *metadata = cavs__describe(s, "cavs checkpoint");
    struct cavs__points points = cavs__points_begin();

    snprintf(step, sizeof step, "%ld", s->optimizer.store->step);
    snprintf(seed, sizeof seed, "%" PRIu64, s->options.seed);
    snprintf(lr, sizeof lr, "%a", (double)s->optimizer.rule.lr);
    cavs__points_end(points);
    snprintf(optimizer, sizeof optimizer, "%d", (int)s->options.optimizer);
    snprintf(shards, sizeof shards, "%d", s->engine.nshards);
    if (set_own(metadata, "updates", step) && set_own(metadata, "seed", seed) &&
        set_own(metadata, "lr", lr) && set_own(metadata, "optimizer", optimizer) &&
        set_own(metadata, "shards", shards) && set_metrics(metadata, s->model) &&
        set_own(metadata, "note", note) && (!s->tapes || set_tapes(metadata, s)))
        return metadata;
    json_decref(metadata);
    return NULL;
}

/* ---- reading ---- */

const char *cavs__described(const struct cavs__safetensors *f, const char *name)
{
    bool old = !cavs__safetensors_note(f, CAVS__OWN_PREFIX "updates");
    const char *text;
    char own[64];

    snprintf(own, sizeof own, "%s%s", old ? "" : CAVS__OWN_PREFIX, name);
    text = cavs__safetensors_note(f, own);
    return text ? text : "";
}

static bool parse_double(const struct cavs__safetensors *f, const char *name, double *value)
{
    const char *text = cavs__described(f, name);
    struct cavs__points points = cavs__points_begin();
    char *end;

    *value = strtod(text, &end);
    cavs__points_end(points);
    return end != text && !*end;
}

static bool parse_long(const struct cavs__safetensors *f, const char *name, long lo, long hi,
                       long *value)
{
    const char *text = cavs__described(f, name);
    char *end;

    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && !*end && errno == 0 && *value >= lo && *value <= hi;
}

int cavs__read_description(const struct cavs__safetensors *f, struct cavs__description *d)
{
    const char *seed = cavs__described(f, "seed");
    char *seed_end;

    if (!*cavs__described(f, "updates"))
        return cavs__fail(CAVS_EFORMAT,
                          "%s: a model file, not a checkpoint; cavs_session_load() reads it",
                          f->path);
    d->seed = strtoull(seed, &seed_end, 10);
    if (!*seed || *seed_end || !parse_double(f, "lr", &d->lr) || !isfinite((float)d->lr) ||
        !parse_long(f, "updates", 0, LONG_MAX, &d->step) ||
        !parse_long(f, "optimizer", 0, CAVS_OPTIMIZERS - 1, &d->optimizer) ||
        !parse_long(f, "shards", 1, 1 << 20, &d->shards))
        return cavs__fail(CAVS_EFORMAT, "%s: the metadata of this checkpoint cannot be understood",
                          f->path);
    return CAVS_OK;
}

/* Reads metric i of the checkpoint. */
static int take_metric(const struct cavs__safetensors *f, struct cavs_model *m, int i,
                       const char *name)
{
    const struct cavs__metric *metric = name ? cavs__model_metric(m, name) : NULL;

    if (!metric && name && m->nmetrics < m->most_metrics)
        return cavs__fail_nomem(name, sizeof *metric);
    return metric && metric->number == i
               ? CAVS_OK
               : cavs__fail(CAVS_EFORMAT, "%s: its metrics are not those of the model (%s)",
                            f->path, name ? name : "no name");
}

/* Sets *array to the array of that name, to be released by the caller, or to NULL if there is none.
 * what: how messages call it. */
static int read_array(const struct cavs__safetensors *f, const char *name, const char *what,
                      json_t **array)
{
    const char *text = cavs__described(f, name);
    json_error_t error = {0};

    *array = *text ? cavs__json_read(text, strlen(text), 0, &error) : NULL;
    if (!*text || json_is_array(*array))
        return CAVS_OK;
    if (!*array && !*error.text)
        return cavs__fail_nomem(what, strlen(text));
    json_decref(*array);
    *array = NULL;
    return cavs__fail(CAVS_EFORMAT, "%s: %s cannot be understood", f->path, what);
}

int cavs__take_metrics(const struct cavs__safetensors *f, struct cavs_model *m, int *n)
{
    json_t *names;
    int rc = read_array(f, "metric_names", "the names of its metrics", &names);
    int declared = m->most_metrics - CAVS__TAPE_METRICS;

    *n = names ? (int)json_array_size(names) : m->nmetrics; /* earlier versions did not say */
    if (!rc && *n < declared)
        rc = cavs__fail(CAVS_EFORMAT, "%s: it has no metric %s", f->path, m->metrics[*n]->name);

    for (int i = 0; !rc && names && i < *n; i++)
        rc = take_metric(f, m, i, json_string_value(json_array_get(names, (size_t)i)));
    json_decref(names);
    return rc;
}

int cavs__read_found(const struct cavs__safetensors *f, json_t **found)
{
    return read_array(f, "tapes", "what its tapes had found", found);
}
