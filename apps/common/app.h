/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h - what surrounds a program's model and data: workers, a session, the loop over epochs.
 *
 *     app_start()   after cavs_model_finish(): starts the workers, makes the session, reads --init
 *     app_train()   all epochs, with progress
 *     app_finish()  --roofline, --save, the report on stdout
 *     app_stop()
 *     app_status()  turns what went wrong into a line on stderr and an exit status
 *
 * They return 0 or a negative code of the library's, with its message in cavs_error_message().
 */
#ifndef CAVS_APPS_APP_H
#define CAVS_APPS_APP_H

#include "apps/common/error.h"
#include "apps/common/options.h"
#include "apps/common/report.h"

struct app {
    const char *name;
    const struct app_options *options;
    struct cavs_runtime *runtime;
    struct cavs_session *session;
    struct report report;
};

/* What is trained, and what a program wants to do on the way; its functions may be NULL. */
struct training {
    struct cavs_data *data;
    const struct cavs_stage *graph; /* the stage whose vertices are counted in the report */
    const char *loss;               /* name of the metric */
    bool loss_per_sample;           /* its mean is over samples; otherwise over what it counted */
    /* before each batch; may rewrite inputs of these samples */
    int (*before_batch)(void *context, const int *samples, int n);
    /* after each epoch, while the metrics are those of this epoch; may evaluate something else */
    int (*after_epoch)(void *context);
    void *context;
    struct app_error
        *error; /* the program's, for what app_train() has to say; NULL: it goes to stderr */
};

/* Start from a zeroed struct. */
int app_start(struct app *a, const char *name, const struct app_options *o,
              const struct cavs_model *m);
int app_train(struct app *a, const struct training *t);
int app_finish(struct app *a);
void app_stop(struct app *a);

/* What main() returns: APP_OK, or APP_FAILED after a line on stderr with the program's own message, or if
 * that is empty the library's. */
int app_status(const char *name, int rc, const struct app_error *e);

/* One forward pass over all samples, metrics from zero. */
int app_evaluate(struct app *a, const struct cavs_data *d);
/* A metric of the model, and what its mean is called in the report. */
struct app_mean {
    const char *metric, *field;
};
/* Puts the means over the training set since the last reset into the report, as train_FIELD, then those of a pass over
 * `dev` (unless it is NULL) as dev_FIELD, and both on stderr.  `means` is ended by one without a metric. */
int app_report_epoch(struct app *a, const struct cavs_data *dev, const struct app_mean *means);
/* Mean of a metric over what it counted; NaN if that was nothing. */
int app_mean(struct app *a, const char *metric, double *mean);

#endif
