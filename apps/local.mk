# SPDX-License-Identifier: Apache-2.0
#
# apps/: the programs: options, data, models, in a frame that they share (apps/common/program.h;
# doc/adding-a-model.md), and tools (cavs_pack.c, trace/).
#
# To add a program tree_fc made from tree_fc.c (`make install` installs it as cavs-tree_fc):
#     APPS += apps/tree_fc
# and if it has more files than that:
#     apps_tree_fc_SOURCES = apps/tree_fc.c apps/tree_shapes.c apps/tree_shapes.h
# Code that several programs share (the frame, readers) goes to libapp.la:
#     libapp_la_SOURCES += apps/common/x.c apps/common/x.h
# Programs are linked with that, with libcavs.la, and with what they themselves call (jansson, argp, libm).

libapp_la_SOURCES += \
	apps/common/app_error.c apps/common/app_error.h \
	apps/common/arities.c apps/common/arities.h \
	apps/common/best.c apps/common/best.h \
	apps/common/by_name.c \
	apps/common/clashes.c apps/common/clashes.h \
	apps/common/conllu.c apps/common/conllu.h \
	apps/common/conllu_graph.c apps/common/conllu_line.c apps/common/conllu_sentence.c \
	apps/common/conllu_predict.c apps/common/conllu_predict.h \
	apps/common/conllu_stream.h apps/common/conllu_text.c \
	apps/common/data_files.c apps/common/data_files.h \
	apps/common/edge_list.c apps/common/edge_list.h \
	apps/common/entities.c apps/common/entities.h \
	apps/common/epoch_log.c apps/common/epoch_log.h \
	apps/common/evaluate.c \
	apps/common/forest.c apps/common/forest.h \
	apps/common/json_build.c apps/common/json_build.h \
	apps/common/known_classes.h \
	apps/common/learning_rate.c apps/common/learning_rate.h \
	apps/common/lines.c apps/common/lines.h \
	apps/common/model_note.c apps/common/model_note.h \
	apps/common/model_words.c \
	apps/common/number_rows.c apps/common/number_rows.h \
	apps/common/option_json.c \
	apps/common/option_table.c apps/common/option_table.h \
	apps/common/option_values.c apps/common/option_values.h \
	apps/common/options.c apps/common/options.h \
	apps/common/packed_set.c apps/common/packed_set.h \
	apps/common/params.h \
	apps/common/predict.c apps/common/predict.h \
	apps/common/program.c apps/common/program.h \
	apps/common/progress.c apps/common/progress.h \
	apps/common/ptb.c apps/common/ptb.h \
	apps/common/ptb_write.c \
	apps/common/random.c apps/common/random.h \
	apps/common/report.c apps/common/report.h \
	apps/common/report_print.c apps/common/report_state.c \
	apps/common/reserve.c apps/common/reserve.h \
	apps/common/run_checkpoint.c apps/common/run_checkpoint.h \
	apps/common/run_lock.c apps/common/run_lock.h \
	apps/common/scores.c apps/common/scores.h \
	apps/common/sentences.c apps/common/sentences.h \
	apps/common/start.c apps/common/start.h \
	apps/common/status.c apps/common/status.h \
	apps/common/peers.c apps/common/peers.h \
	apps/common/sets.c apps/common/sets.h \
	apps/common/stop.c apps/common/stop.h \
	apps/common/surroundings.c apps/common/surroundings.h \
	apps/common/tag_baseline.c apps/common/tag_baseline.h \
	apps/common/tape_rows.c apps/common/tape_rows.h \
	apps/common/texts.c apps/common/texts.h \
	apps/common/tool.c apps/common/tool.h \
	apps/common/threefile.c apps/common/threefile.h \
	apps/common/train.c apps/common/train.h \
	apps/common/train_checkpoint.c apps/common/train_loop.h \
	apps/common/utf8.c apps/common/utf8.h \
	apps/common/vectors.c \
	apps/common/vocab.c apps/common/vocab.h \
	apps/common/word_vectors.c apps/common/word_vectors.h \
	apps/tree_shapes.c apps/tree_shapes.h

APPS += apps/tree_fc

tree_lstm_sources = apps/tree_lstm.h apps/tree_lstm_cells.c apps/tree_lstm_cells.h apps/tree_lstm_predict.c \
	apps/tree_lstm_predict.h apps/tree_lstm_program.c apps/treebank.c apps/treebank.h

APPS += apps/tree_lstm apps/dyn_tree_lstm
apps_tree_lstm_SOURCES = apps/tree_lstm.c $(tree_lstm_sources)
apps_dyn_tree_lstm_SOURCES = apps/dyn_tree_lstm.c $(tree_lstm_sources)

APPS += apps/dyn_spinn
apps_dyn_spinn_SOURCES = apps/dyn_spinn.c apps/dyn_spinn.h apps/dyn_spinn_model.c apps/tree_lstm_predict.c \
	apps/tree_lstm_predict.h apps/treebank.c apps/treebank.h

# --- text: language models and taggers -----------------------------------------------------------------

language_model_sources = apps/language_model.c apps/language_model.h apps/language_model_predict.c
tagger_parts = apps/tagger.h apps/tagger_predict.c apps/tagger_program.c apps/tagger_text.c
tagger_sources = apps/tagger.c $(tagger_parts)
dyn_tagger_sources = apps/dyn_tagger_model.c apps/dyn_tagger.h $(tagger_parts)

APPS += apps/fixed_lstm apps/var_lstm apps/bilstm_tagger apps/bilstm_char_tagger
apps_fixed_lstm_SOURCES = apps/fixed_lstm.c $(language_model_sources)
apps_var_lstm_SOURCES = apps/var_lstm.c $(language_model_sources)
apps_bilstm_tagger_SOURCES = apps/bilstm_tagger.c $(tagger_sources)
apps_bilstm_char_tagger_SOURCES = apps/bilstm_char_tagger.c $(tagger_sources)

APPS += apps/dyn_tagger apps/dyn_char_tagger
apps_dyn_tagger_SOURCES = apps/dyn_tagger.c $(dyn_tagger_sources)
apps_dyn_char_tagger_SOURCES = apps/dyn_char_tagger.c $(dyn_tagger_sources)

# --- packed data -------------------------------------------------------------------------------------------

APPS += apps/cavs-pack
apps_cavs_pack_SOURCES = apps/cavs_pack.c apps/pack.h apps/pack_conllu.c apps/pack_text.c \
	apps/pack_trees.c

# --- the parser ----------------------------------------------------------------------------------------

parser_sources = apps/parser.h apps/parser_predict.c apps/parser_program.c apps/parser_text.c apps/parser_text.h \
	apps/transitions.c apps/transitions.h

APPS += apps/parser apps/dyn_parser
apps_parser_SOURCES = apps/parser.c apps/parser_data.c apps/parser_decode.c apps/parser_model.c $(parser_sources)
apps_dyn_parser_SOURCES = apps/dyn_parser.c apps/dyn_parser.h apps/dyn_parser_decode.c apps/dyn_parser_model.c \
	apps/dyn_parser_readings.c apps/dyn_parser_train.c apps/dynamic_oracle.c apps/dynamic_oracle.h \
	$(parser_sources)

# --- encoder and decoder -------------------------------------------------------------------------------

seq2seq_sources = apps/seq2seq.h apps/seq2seq_answers.c apps/seq2seq_program.c apps/seq2seq_tasks.c \
	apps/seq2seq_tasks.h

APPS += apps/seq2seq apps/dyn_seq2seq
apps_seq2seq_SOURCES = apps/seq2seq.c apps/seq2seq_decode.c apps/seq2seq_model.c $(seq2seq_sources)
apps_dyn_seq2seq_SOURCES = apps/dyn_seq2seq.c apps/dyn_seq2seq.h apps/dyn_seq2seq_search.c $(seq2seq_sources)

# --- graphs --------------------------------------------------------------------------------------------

APPS += apps/dag_rnn
apps_dag_rnn_SOURCES = apps/dag_rnn.c apps/dag_rnn.h apps/dag_rnn_data.c

# --- citation graphs -------------------------------------------------------------------------------------

APPS += apps/gcn
apps_gcn_SOURCES = apps/gcn.c apps/gcn.h apps/gcn_graph.c apps/gcn_graph.h apps/gcn_nodes.c apps/gcn_nodes.h \
	apps/gcn_predict.c

# --- dependency trees ------------------------------------------------------------------------------------

APPS += apps/dep_tree_lstm

# --- traces ----------------------------------------------------------------------------------------------

include apps/trace/local.mk
