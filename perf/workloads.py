# SPDX-License-Identifier: Apache-2.0
"""The benchmark workloads, which bench holds against their marks and turns compares between two builds."""
import runs


def options(p):
    p.add_argument("--only", metavar="TEXT", help="only workloads with this text in their name")


def listed(o, build):
    """(name, mark, command) of each; the mark is the wanted share of the sgemm peak.  Epochs are so many
    that each run takes some seconds on two cores."""
    few = 320 if o.quick else runs.SST_TREES

    def fc(h, shape):
        return runs.tree_fc(build, h, 256, shape, 64 if o.quick else 512, epochs=2 if o.quick else 4)

    def lstm(h, batch, epochs, trees=few):
        return runs.tree_lstm(build, h, batch, min(trees, few), 2 if o.quick else epochs)

    found = [
        ("Tree-FC balanced, 256 leaves, h 512, K 64", 0.92, fc(512, "balanced")),
        ("Tree-FC random, 256 leaves, h 128, K 64", 0.75, fc(128, "random")),
        ("Tree-LSTM h 2048, K 64 (256 trees)", 0.85, lstm(2048, 64, 2, 256)),
        ("Tree-LSTM h 1024, K 64 (1,024 trees)", 0.85, lstm(1024, 64, 2, 1024)),
        ("Tree-LSTM h 512, K 64 (4,096 trees)", 0.86, lstm(512, 64, 2, 4096)),
        ("Tree-LSTM h 256, K 64", 0.83, lstm(256, 64, 3)),
        ("Tree-LSTM h 128, K 64", 0.75, lstm(128, 64, 4)),
        ("Tree-LSTM h 64, K 64", 0.60, lstm(64, 64, 8)),
        ("Tree-LSTM h 256, K 16", 0.65, lstm(256, 16, 3)),
        ("Tree-LSTM h 256, K 1 (2,048 trees)", 0.20, lstm(256, 1, 2, 2048)),
        # every batch counts as one that has not come before
        ("Tree-LSTM h 256, K 64, --infer", 0.85, [*lstm(256, 64, 4), "--infer", "--keep-mb", 0]),
    ]
    return [w for w in found if not o.only or o.only.lower() in w[0].lower()]
