/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_note.h - what a model file says of itself, in its metadata:
 *
 *     program            JSON: {"program": NAME, "version": .., "options": {..}}, the options that
 *                        decide on the model
 *     run                JSON: {"options": {..}, "kept": {..}, "data": ..}, how it was trained:
 *                        options that change what training gives, those that a resumed run takes
 *                        over, a fingerprint of the training set
 *     vocabulary.NAME    the words by their ids, a line each, from <unk>, which is 0; a backslash
 *                        is \\, and a byte that is not part of UTF-8 is \xHH
 *
 * So --init needs no other option, and a word means the same to whoever reads the file.
 */
#ifndef CAVS_APPS_MODEL_NOTE_H
#define CAVS_APPS_MODEL_NOTE_H

#include "apps/common/program.h"

/* Opens the file of --init or --resume, if there is one, checks that it is of this program, and
 * takes the options from it that were not given. */
int model_note_open(struct app *a);
void model_note_close(struct app *a);
/* For a resumed run, when its data are there: refuses a training set other than the run's. */
int model_note_check_data(struct app *a);
/* Sees to it that all files which the session writes say what they are. */
int model_note_keep(struct app *a);

/* model_words.c: the vocabularies that the program keeps go into all files that the session
 * writes. */
int model_note_keep_words(struct app *a);
/* The vocabulary of that name in a model file; *out is the caller's, NULL if the file has none. */
int model_note_vocab(const struct cavs_model_file *f, const char *path, const char *name,
                     struct vocab **out, struct app_error *e);
/* Data that were packed with other words than the model file's are refused: the first difference is
 * named.  Fine if there is no model file, or it has no such vocabulary. */
int model_note_same_words(struct app *a, const char *name, const struct vocab *v, const char *path);

#endif
