# SPDX-License-Identifier: Apache-2.0
"""What all peers share, whatever they are written with: the programs' options, random numbers, data and model
files.  Nothing here needs more than Python; numbers of a model file come as bytes."""
import argparse
import collections
import json
import os
import re
import sys

PROGRAM = os.path.basename(sys.argv[0])
MASK = (1 << 64) - 1
UNKNOWN = 0  # the row of words that are not known, in all tables


def fail(text):
    sys.exit(f"{PROGRAM}: {text}")


# ---- options ----------------------------------------------------------------------------------------


def parser(doc, parents=(), **defaults):
    """The options of all peers, which are also the apps'."""
    usual = {"epochs": 3, "batch": 64, "hidden": 256, "embed": 256, "lr": 1e-3, "seed": 0, **defaults}
    p = argparse.ArgumentParser(description=doc, parents=parents,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in usual.items():
        p.add_argument(f"--{name}", type=type(value), default=value, help="default %(default)s")
    p.add_argument("--init", help="parameters from this model file")
    p.add_argument("--infer", action="store_true", help="forward passes only")
    p.add_argument("--json", action="store_true", help="results as one JSON object")
    p.add_argument("--quiet", action="store_true", help="nothing on stderr")
    return p


def tree_options(p):
    """Those of Tree-FC."""
    p.add_argument("--leaves", type=int, default=256, help="leaves of each tree (default %(default)s)")
    p.add_argument("--samples", type=int, default=512, help="trees in an epoch (default %(default)s)")
    p.add_argument("--tree", choices=("balanced", "random", "sequence"), default="balanced",
                   help="shape of the trees (default %(default)s)")


def data_folder():
    return os.environ.get("CAVS_DATA", "../shared/data")


def report(o, results):
    print(json.dumps(results) if o.json else "\n".join(f"{k:14} {v}" for k, v in results.items()))


# ---- the apps' random numbers -----------------------------------------------------------------------


def splitmix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return x, z ^ (z >> 31)


class Random:
    """xoshiro256** as in apps/common/random.c."""

    def __init__(self, seed, stream):
        x = splitmix(seed)[1] ^ stream
        self.s = []
        for _ in range(4):
            x, z = splitmix(x)
            self.s.append(z)

    def next(self):
        a, b, c, d = self.s
        x = (b * 5) & MASK
        result = ((((x << 7) | (x >> 57)) & MASK) * 9) & MASK
        t = (b << 17) & MASK
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        self.s = [a, b, c ^ t, ((d << 45) | (d >> 19)) & MASK]
        return result

    def below(self, n):
        unfair = (1 << 32) % n
        while True:
            product = (self.next() >> 32) * n
            if product & 0xFFFFFFFF >= unfair:
                return product >> 32


def draw_order(n, seed, epoch):
    """The order of the samples in an epoch."""
    order, rng = list(range(n)), Random(seed, epoch)
    for i in range(n - 1, 0, -1):
        j = rng.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


# ---- model files ------------------------------------------------------------------------------------


def model_file(path, wanted):
    """name -> the bytes of its float32 numbers; wanted: name -> shape.  A safetensors file is 8 bytes of header
    length, a JSON header, the numbers."""
    with open(path, "rb") as f:
        data = f.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, shape in wanted.items():
        entry = header.get(name)
        if not entry or tuple(entry["shape"]) != shape:
            fail(f"{path} has no '{name}' of shape {shape}")
        first, end = (8 + length + x for x in entry["data_offsets"])
        found[name] = data[first:end]
    return found


# ---- parse trees ------------------------------------------------------------------------------------

TREE_CLASSES = 5


class Tree:
    """Vertices in post-order, the root last. left, right and word are -1 where there is none; height 0: a leaf."""

    def __init__(self, tokens, vocabulary):
        self.left, self.right, self.word, self.label, self.height = [], [], [], [], []
        stack = []
        for kind, text in tokens:
            if kind == "open":
                stack.append([int(text), []])
            elif kind == "word":
                stack[-1].append(vocabulary.setdefault(text, len(vocabulary) + 1))
            else:
                self.add(*stack.pop())
                if stack:
                    stack[-1][1].append(len(self.label) - 1)
        self.n = len(self.label)

    def add(self, label, children, word=-1):
        if len(children) not in (0, 2):
            raise ValueError("only binary trees are supported")
        self.left.append(children[0] if children else -1)
        self.right.append(children[1] if children else -1)
        self.height.append(1 + max(self.height[c] for c in children) if children else 0)
        self.word.append(word)
        self.label.append(label)


TOKEN = re.compile(rb"\((\d+)[ \t]*|\)|([^() \t\r\n]+)")


def tokens_of(line):
    for m in TOKEN.finditer(line):
        if m.group(1) is not None:
            yield "open", m.group(1)
        elif m.group(2) is not None:
            yield "word", m.group(2)
        else:
            yield "close", None


def read_trees(path):
    """[Tree], how many words there are, <unk> among them"""
    vocabulary = {}
    try:
        with open(path, "rb") as lines:
            trees = [Tree(tokens_of(line), vocabulary) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
    return trees, len(vocabulary) + 1


def tree_lstm_shapes(words, e, h):
    """Parameters of the `bench` cell."""
    return {
        "embedding": (words, e), "W_iou": (e, 3 * h), "b_leaf": (1, 3 * h),
        "U_iou": (2 * h, 3 * h), "b_iou": (1, 3 * h), "F1": (h, h), "F2": (h, h), "b_f": (1, h),
        "W_class": (h, TREE_CLASSES), "b_class": (1, TREE_CLASSES),
    }


def tree_lstm_flops(o, trees):
    """Forward, nominal, of an epoch."""
    leaves = sum(t.height.count(0) for t in trees)
    vertices = sum(t.n for t in trees)
    h, e = o.hidden, o.embed
    return leaves * 6 * e * h + (vertices - leaves) * 16 * h * h + vertices * 2 * h * TREE_CLASSES


# ---- trees of Tree-FC -------------------------------------------------------------------------------


def tree_shape(shape, leaves, rng):
    """[(left, right)] of the inner vertices leaves .. 2 leaves - 2, as apps/tree_shapes.c makes them."""
    pairs = [[0, 0] for _ in range(leaves - 1)]
    following, stack = 2 * leaves - 2, [(0, leaves, [0], 0)]
    while stack:
        first, n, pair, side = stack.pop()
        if n == 1:
            pair[side] = first
            continue
        left = {"random": lambda: 1 + rng.below(n - 1), "sequence": lambda: n - 1}.get(shape, lambda: n - n // 2)()
        mine = pairs[following - leaves]
        pair[side] = following
        following -= 1
        stack += [(first, left, mine, 0), (first + left, n - left, mine, 1)]
    return pairs


class LeafWords:
    """The leaves' rows of the embedding, drawn anew for each batch."""

    def __init__(self, seed, leaves):
        self.rng, self.leaves = Random(seed, MASK - 1), leaves

    def draw(self):
        return [self.rng.below(self.leaves) for _ in range(self.leaves)]


def tree_fc_samples(o):
    rng = Random(o.seed, MASK)
    return [tree_shape(o.tree, o.leaves, rng) for _ in range(o.samples)]


def tree_fc_shapes(o):
    return {"embedding": (o.leaves, o.hidden), "W": (2 * o.hidden, o.hidden), "b": (1, o.hidden)}


def tree_fc_flops(o):
    return o.samples * (o.leaves - 1) * 4 * o.hidden * o.hidden


# ---- sentences with tags ----------------------------------------------------------------------------


def read_sentences(path):
    """[(words, tags)]"""
    try:
        with open(path, encoding="utf-8") as lines:
            sentences = [[token.rsplit("|", 1) for token in line.split()] for line in lines if line.strip()]
    except OSError as error:
        fail(f"{path}: {error}")
    return [([w for w, _ in s], [t for _, t in s]) for s in sentences]


class Numbers:
    """Words and tags of the training set; row UNKNOWN is for words that are rare."""

    def __init__(self, sentences, min_count):
        count = collections.Counter(w for words, _ in sentences for w in words)
        self.words = {w: i + 1 for i, w in enumerate(w for w in count if count[w] >= min_count)}
        self.tags = {t: i for i, t in enumerate(dict.fromkeys(t for _, tags in sentences for t in tags))}
