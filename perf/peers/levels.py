# SPDX-License-Identifier: Apache-2.0
"""Batches of binary trees for models in PyTorch that evaluate a level of all trees at a time."""
import common
from common import np


def use_arrays(trees):
    for t in trees:
        for name in ("left", "right", "word", "label", "height"):
            setattr(t, name, np.array(getattr(t, name)))


class Levels:
    """The vertices of a batch, numbered by level: row r reads its children from slots 2r and 2r + 1."""

    def __init__(self, trees):
        base = np.cumsum([0] + [t.n for t in trees])
        join = lambda name: np.concatenate([getattr(t, name) for t in trees])
        shift = np.repeat(base[:-1], np.diff(base))
        height, word, label = join("height"), join("word"), join("label")
        inner = np.flatnonzero(height)
        inner = inner[np.argsort(height[inner], kind="stable")]
        leaves = np.flatnonzero(height == 0)
        slot = np.empty(base[-1], dtype=np.int64)
        slot[(join("left") + shift)[inner]] = 2 * np.arange(len(inner))
        slot[(join("right") + shift)[inner]] = 2 * np.arange(len(inner)) + 1
        slot[base[1:] - 1] = 2 * len(inner) + np.arange(len(trees))
        by_slot = np.empty_like(label)
        by_slot[slot] = label
        self.ends = np.cumsum(np.bincount(height[inner], minlength=1)[1:]).tolist()
        self.inner, self.slots, self.trees = len(inner), int(base[-1]), len(trees)
        self.inner_slot = common.put(slot[inner])
        self.leaf_slot = common.put(slot[leaves])
        self.word = common.put(word[leaves].astype(np.int64))
        self.label = common.put(by_slot.astype(np.int64))

    def ranges(self):
        return list(zip([0] + self.ends[:-1], self.ends))
