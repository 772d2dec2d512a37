# SPDX-License-Identifier: Apache-2.0
"""What the models in PyTorch share: the programs' random numbers and model files, options, epochs, results.

A peer is a class with

    values               name -> initial tensor, not to be changed
    start()              begins anew with these values
    train(samples)       one batch; returns its summed loss, a tensor of one number
    evaluate(samples)    the same without learning
    variants             names of the ways in which it can do so; `variant` is the one in use

and main() here does the rest.
"""
import argparse
import json
import math
import os
import sys
import time

try:
    import numpy as np
    import torch
except ImportError as error:  # --help works without them
    np = torch = None
    missing = error

PROGRAM = os.path.basename(sys.argv[0])
MASK = (1 << 64) - 1
device = "cpu"  # where parameters and batches lie: --device


# ---- the apps' random numbers: the order of the samples --------------------------------------------


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
    order, rng = list(range(n)), Random(seed, epoch)
    for i in range(n - 1, 0, -1):
        j = rng.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


# ---- the device -------------------------------------------------------------------------------------


def use_device(name):
    """Products in full float32, as the apps do them without --tf32: cuDNN would round to TF32."""
    global device
    if name == "cuda":
        if not torch.cuda.is_available():
            sys.exit(f"{PROGRAM}: this PyTorch ({torch.__version__}) sees no CUDA device")
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
    device = name


def put(array):
    """A numpy array as a tensor on the device."""
    return torch.from_numpy(array).to(device)


def empty(*shape):
    return torch.empty(*shape, device=device)


def device_name():
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def clock():
    """The time when all that was queued on the device is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


# ---- parameters -------------------------------------------------------------------------------------


def drawn(wanted, seed, gates):
    """Uniform in Glorot's range; gates: name -> how many matrices lie side by side in it."""
    generator = torch.Generator().manual_seed(seed)
    values = {}
    for name, (rows, cols) in wanted.items():
        limit = 0.05 if name == "embedding" else 0
        if rows > 1 and not limit:
            limit = math.sqrt(6 / (rows + cols / gates.get(name, 1)))
        values[name] = (torch.rand(rows, cols, generator=generator) * 2 - 1) * limit
    return values


def loaded(wanted, path):
    """A safetensors file: 8 bytes of header length, a JSON header, the numbers."""
    with open(path, "rb") as f:
        data = f.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    values = {}
    for name, shape in wanted.items():
        entry = header.get(name)
        if not entry or tuple(entry["shape"]) != shape:
            sys.exit(f"{PROGRAM}: {path} has no '{name}' of shape {shape}")
        first, end = (8 + length + x for x in entry["data_offsets"])
        numbers = np.frombuffer(data[first:end], dtype="<f4").reshape(shape)
        values[name] = torch.from_numpy(numbers.copy())
    return values


def initial(o, wanted, gates=()):
    values = loaded(wanted, o.init) if o.init else drawn(wanted, o.seed, dict(gates))
    return {name: v.to(device) for name, v in values.items()}


class Adam:
    """As the apps have it: of the embedding only the rows that a batch touched."""

    def __init__(self, embedding, dense, lr):
        try:
            self.dense = torch.optim.Adam(dense, lr=lr, fused=True)
        except (TypeError, RuntimeError):  # older versions have no fused one for CPUs
            self.dense = torch.optim.Adam(dense, lr=lr)
        self.sparse = torch.optim.SparseAdam([embedding], lr=lr)

    def step(self):
        self.dense.step()
        self.sparse.step()


# ---- the program ------------------------------------------------------------------------------------


def parser(doc, **defaults):
    """The options of all peers, which are also the apps'."""
    usual = {"epochs": 3, "batch": 64, "hidden": 256, "embed": 256, "lr": 1e-3, "seed": 0, **defaults}
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in usual.items():
        p.add_argument(f"--{name}", type=type(value), default=value, help="default %(default)s")
    p.add_argument("--init", help="parameters from this model file")
    p.add_argument("--infer", action="store_true", help="forward passes only")
    p.add_argument("--workers", type=int, default=0,
                   help="threads; default: the number that is fastest on some batches, or with a GPU one a core")
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default %(default)s")
    p.add_argument("--json", action="store_true", help="results as one JSON object")
    p.add_argument("--quiet", action="store_true", help="nothing on stderr")
    return p


def parse(p):
    o = p.parse_args()
    if torch is None:
        sys.exit(f"{PROGRAM}: {missing}; run it with the Python that perf/peers/setup prints")
    use_device(o.device)
    return o


def data_folder():
    return os.environ.get("CAVS_DATA", "../shared/data")


def run_epoch(step, samples, order, batch):
    """summed loss, which is read once at the end: a GPU need not be waited for after each batch; seconds"""
    begin, loss = clock(), torch.zeros((), dtype=torch.float64, device=device)
    for i in range(0, len(order), batch):
        loss += step([samples[k] for k in order[i : i + batch]])
    return loss.item(), clock() - begin


def start(o, model, threads, variant):
    torch.set_num_threads(threads)
    model.variant = variant
    model.start()
    return model.evaluate if o.infer else model.train


def fastest(o, model, samples):
    """Tries every number of threads and every variant on the same batches, about a second's worth;
    returns the best pair."""
    speed, some = {}, None
    threads = [o.workers] if o.workers else range((os.cpu_count() or 1), 0, -1)[: 1 if device == "cuda" else None]
    for choice in [(n, v) for n in threads for v in model.variants]:
        step, order = start(o, model, *choice), draw_order(len(samples), o.seed, 0)
        run_epoch(step, samples, order[: o.batch], o.batch)
        if not some:
            one = run_epoch(step, samples, order[: o.batch], o.batch)[1]
            some = order[: o.batch * min(max(round(1 / one), 2), 16)]
        speed[choice] = min(run_epoch(step, samples, some, o.batch)[1] for _ in range(2))
    return min(speed, key=speed.get)


def train(o, step, samples, count):
    """seconds and mean losses of all epochs; count: how many terms an epoch's loss has"""
    seconds, losses = [], []
    for epoch in range(1, o.epochs + 1):
        order = list(range(len(samples))) if o.infer else draw_order(len(samples), o.seed, epoch)
        loss, took = run_epoch(step, samples, order, o.batch)
        seconds.append(took)
        losses.append(loss / count)
        if not o.quiet:
            print(f"epoch {epoch}/{o.epochs}  loss {losses[-1]:.4f}  {took:.2f} s  "
                  f"{len(samples) / took:.1f} samples/s", file=sys.stderr)
    return seconds, losses


def main(o, model, samples, count, forward_flops):
    """Trains on the samples and prints the results; forward_flops: nominal, of an epoch."""
    choice = (o.workers, model.variants[0])
    if not o.workers or len(model.variants) > 1:
        choice = fastest(o, model, samples)
    seconds, losses = train(o, start(o, model, *choice), samples, count)
    flops = float(forward_flops * (1 if o.infer else 3)) * o.epochs
    report = {
        "app": PROGRAM, "version": torch.__version__, "device": device_name(), "samples": len(samples) * o.epochs,
        "vertices": count * o.epochs, "epochs": o.epochs, "loss": losses[-1], "seconds": sum(seconds),
        "samples_per_s": len(samples) * o.epochs / sum(seconds), "flops": flops,
        "gflops": flops / sum(seconds) / 1e9, "workers": choice[0], "variant": choice[1],
        "epoch_seconds": seconds, "epoch_loss": losses,
    }
    print(json.dumps(report) if o.json else "\n".join(f"{k:14} {v}" for k, v in report.items()))
