/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train.h - the loop over epochs and batches: progress, the learning rate, the development set
 * after each epoch, the best model, checkpoints, and an orderly end when a signal asks for one or
 * the parameters are no numbers any more.
 */
#ifndef CAVS_APPS_TRAIN_H
#define CAVS_APPS_TRAIN_H

#include "apps/common/program.h"

/* 0 or a negative code.  After a signal 0: stop_signal() tells.  When the parameters have diverged
 * 0, and a->status says so. */
int app_train(struct app *a);

#endif
