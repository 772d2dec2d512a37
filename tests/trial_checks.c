/* SPDX-License-Identifier: Apache-2.0 */
/* trial_checks.c - what fails a test, and what is said then. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/trial.h"

static char note[128];

void trial_note(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(note, sizeof note, format, ap);
    va_end(ap);
}

const char *trial_noted(void)
{
    return note;
}

void check_ok_at(int rc, const char *call, const char *file, int line)
{
    if (rc != 0)
        fail_msg("%s:%d: %s gave %d (%s): %s %s", file, line, call, rc, cavs_strerror(rc),
                 cavs_error_message(), note);
}

void check_refused_at(int rc, int code, const char *call, const char *file, int line,
                      const char *const *texts)
{
    if (rc != code)
        fail_msg("%s:%d: %s gave %d (%s), not %d (%s); message: %s", file, line, call, rc,
                 cavs_strerror(rc), code, cavs_strerror(code), cavs_error_message());
    for (; *texts; texts++) {
        if (!strstr(cavs_error_message(), *texts))
            fail_msg("%s:%d: %s: the message \"%s\" does not say \"%s\"", file, line, call,
                     cavs_error_message(), *texts);
    }
}

/* The number that is furthest from what it should be, or the first NaN. */
static size_t worst_of(size_t n, const float *got, const double *want)
{
    size_t at = 0;
    for (size_t i = 1; i < n && !isnan(got[at] - want[at]); i++) {
        if (!(fabs(got[i] - want[i]) <= fabs(got[at] - want[at])))
            at = i;
    }
    return at;
}

double trial_largest(size_t n, const double *x)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

bool trial_is_close(size_t n, const float *got, const double *want, double limit)
{
    size_t at = worst_of(n, got, want);
    return n == 0 || fabs(got[at] - want[at]) <= limit;
}

void check_within(const char *what, size_t n, const float *got, const double *want, double limit)
{
    size_t at = worst_of(n, got, want);
    if (!trial_is_close(n, got, want, limit))
        fail_msg("%s[%zu]: got %.9g, want %.9g (difference %.3g; largest of %zu values %.3g) %s",
                 what, at, got[at], want[at], fabs(got[at] - want[at]), n, trial_largest(n, want),
                 note);
}

void check_close(const char *what, size_t n, const float *got, const double *want, double tolerance)
{
    check_within(what, n, got, want, tolerance * fmax(trial_largest(n, want), 1e-6));
}
