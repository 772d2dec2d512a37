/* SPDX-License-Identifier: Apache-2.0 */
/* option_json.c - values of options in model files and checkpoints: written, taken, compared. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/option_values.h"
#include "apps/common/utf8.h"

/* Seeds have 64 bits without a sign, which JSON has not: they go as text, and reals too, so that no
 * bit is lost. */
static json_t *value_to_json(const struct app_option *o, const void *value)
{
    char text[64];

    switch (o->kind) {
    case OPTION_FLAG: return json_boolean(*(const bool *)value);
    case OPTION_DEVICES:
    case OPTION_INT: return json_integer(*(const int *)value);
    case OPTION_TEXT:
        return *(const char *const *)value ? utf8_to_json(*(const char *const *)value)
                                           : json_null();
    default: return option_spell(o, value, text, sizeof text) ? json_string(text) : json_null();
    }
}

json_t *options_to_json(const struct option_list *l, enum option_role role)
{
    json_t *object = json_object();

    for (int i = 0; object && i < l->n; i++) {
        if (l->row[i]->kind == OPTION_HEADING || l->row[i]->role != role)
            continue;
        if (json_object_set_new(object, l->row[i]->name,
                                value_to_json(l->row[i], options_value(l, i))) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static bool choice_from_text(const struct app_option *o, const char *text, int *value)
{
    int found = text ? option_find_choice(o, text) : -1;

    if (found >= 0)
        *value = found;
    return found >= 0;
}

static bool int_from_json(const struct app_option *o, const json_t *json, int *value)
{
    json_int_t n = json_integer_value(json);
    int lo = o->kind == OPTION_DEVICES ? -1 : (int)o->lo;

    *value = (int)n;
    return json_is_integer(json) && n >= lo && n <= (json_int_t)o->hi;
}

static bool real_from_json(const struct app_option *o, const json_t *json, float *value)
{
    const char *text = json_string_value(json);
    char *end;

    if (!text)
        return false;
    *value = strtof(text, &end);
    return end != text && *end == '\0' && *value >= (float)o->lo && *value <= (float)o->hi;
}

static bool text_from_json(struct option_list *l, const json_t *json, const char **value)
{
    char *copy;

    *value = NULL;
    if (json_is_null(json))
        return true;
    if (!json_is_string(json) || !(copy = strdup(json_string_value(json))))
        return false;
    *value = l->owned[l->nowned++] = copy;
    return true;
}

/* Sets row i's value from the file's. */
static bool value_from_json(struct option_list *l, int i, const json_t *json)
{
    const struct app_option *o = l->row[i];
    const char *text = json_string_value(json);
    void *value = options_value(l, i);
    char *end;

    switch (o->kind) {
    case OPTION_HEADING: return false;
    case OPTION_FLAG: *(bool *)value = json_is_true(json); return json_is_boolean(json);
    case OPTION_DEVICES:
    case OPTION_INT: return int_from_json(o, json, value);
    case OPTION_REAL: return real_from_json(o, json, value);
    case OPTION_SEED:
        *(uint64_t *)value = text ? strtoull(text, &end, 10) : 0;
        return text && *text && !*end;
    case OPTION_CHOICE: return choice_from_text(o, text, value);
    case OPTION_TEXT: return text_from_json(l, json, value);
    }
    return false;
}

/* Reals may be spelled with more digits than are needed. */
static bool is_same(const struct app_option *o, const json_t *mine, const json_t *json)
{
    float a, b;

    if (o->kind == OPTION_REAL)
        return real_from_json(o, mine, &a) && real_from_json(o, json, &b) && a == b;
    return json_equal(mine, json);
}

static int refuse_other(const struct option_list *l, int i, const json_t *json, const char *from,
                        struct app_error *e)
{
    const struct app_option *o = l->row[i];
    json_t *mine = value_to_json(o, options_value(l, i));
    bool same = is_same(o, mine, json);
    char text[200] = "", there[200];

    if (!mine)
        return app_fail(e, CAVS_ENOMEM, "no memory for the option --%s", o->name);
    json_decref(mine);
    if (same)
        return 0;
    if (json_is_null(json) || json_is_false(json))
        return app_mistake(e, "--%s: %s was made without it; leave the option out", o->name, from);
    option_spell(o, options_value(l, i), text, sizeof text);
    if (json_is_string(json))
        snprintf(there, sizeof there, "%s", json_string_value(json));
    else
        snprintf(there, sizeof there, "%lld", (long long)json_integer_value(json));
    return app_mistake(e, "--%s %s: %s was made with %s; leave the option out", o->name, text, from,
                       there);
}

int options_from_json(struct option_list *l, enum option_role role, const json_t *object,
                      bool refuse, const char *from, struct app_error *e)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        int i = options_find(l, name), rc;

        if (i < 0 || l->row[i]->role != role)
            return app_fail(e, CAVS_EFORMAT, "%s: it was made with an option --%s, unknown here",
                            from, name);
        if (l->given[i]) {
            if (refuse && (rc = refuse_other(l, i, value, from, e)) < 0)
                return rc;
        } else if (!value_from_json(l, i, value)) {
            return app_fail(e, CAVS_EFORMAT, "%s: its note of --%s cannot be understood", from,
                            name);
        }
    }
    return 0;
}
