# SPDX-License-Identifier: Apache-2.0
#
# doc/: the guide, how to add an operator, how to add a model.
#
# To add a document:
#     dist_doc_DATA += doc/x.md
