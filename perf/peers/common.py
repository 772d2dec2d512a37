# SPDX-License-Identifier: Apache-2.0
"""What the models in PyTorch share: the device, parameters, ways to be fast, epochs, results.

A peer is a class with

    values               name -> initial tensor, not to be changed
    start()              begins anew with these values
    train(samples)       one batch; returns its summed loss, a tensor of one number
    evaluate(samples)    the same without learning
    variants             names of the ways in which it can do so, the plainest first; `variant` is the one in use

and main() here does the rest.
"""
import math
import os
import sys
import time

import shared
from shared import PROGRAM, data_folder, draw_order

# oneDNN makes a kernel for each size of a product, in bf16 above all, and keeps 1,024 of them: levels have more.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "65536")

try:
    import numpy as np
    import torch
except ImportError as error:  # --help works without them
    np = torch = None
    missing = error

device = "cpu"  # where parameters and batches lie: --device


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


def empty(*shape, dtype=None):
    return torch.empty(*shape, device=device, dtype=dtype)


def device_name():
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def clock():
    """The time when all that was queued on the device is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


# ---- ways to be fast --------------------------------------------------------------------------------

FLOAT, PRODUCTS, BFLOAT = "float32", "bf16 products", "bf16"
COMPILED = ", compiled"


def precisions():
    """float32; the same with operands of products rounded to bf16; activations and copies of the weights in
    bf16.  Parameters and what the optimizer keeps are float32 in all of them."""
    return [FLOAT] if device == "cuda" else [FLOAT, PRODUCTS, BFLOAT]


def compiled_too(variants):
    """With the element-wise parts made into one kernel each by torch.compile, too."""
    return variants if device == "cuda" else [v + c for c in ("", COMPILED) for v in variants]


def use_precision(variant):
    """Returns the type of activations."""
    allowed = variant.removesuffix(COMPILED) == PRODUCTS
    torch.set_float32_matmul_precision("medium" if allowed else "highest")
    return torch.bfloat16 if variant.removesuffix(COMPILED) == BFLOAT else torch.float32


def perhaps_compiled(variant, *functions):
    """Each variant and number of threads makes kernels of its own."""
    if not variant.endswith(COMPILED):
        return functions if len(functions) > 1 else functions[0]
    import torch._dynamo.config as limits

    limits.recompile_limit = 64
    made = [torch.compile(f, dynamic=True) for f in functions]
    return made if len(made) > 1 else made[0]


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
    numbers = shared.model_file(path, wanted)
    return {name: torch.from_numpy(np.frombuffer(numbers[name], dtype="<f4").reshape(shape).copy())
            for name, shape in wanted.items()}


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
    """The options of all peers, and those of the machine."""
    p = shared.parser(doc, **defaults)
    p.add_argument("--workers", type=int, default=0,
                   help="threads; default: the number that is fastest on some batches, or with a GPU one a core")
    p.add_argument("--variant", help="the way in which it is done; default: the one that is fastest on some batches")
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default %(default)s")
    return p


def parse(p):
    o = p.parse_args()
    if torch is None:
        sys.exit(f"{PROGRAM}: {missing}; run it with the Python that perf/peers/setup prints")
    use_device(o.device)
    return o


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


class Batches:
    """Of an epoch, one after the other and never the same soon: kernels that are made for the sizes of a batch
    count as they do in training."""

    def __init__(self, order, batch):
        self.order, self.batch, self.at = order, batch, 0

    def take(self, n):
        most = max(len(self.order) // self.batch, 1)
        if self.at + n > most:
            self.at = 0
        first, self.at = self.at * self.batch, self.at + n
        return self.order[first : first + n * self.batch]


def try_choice(o, model, samples, choice, best):
    """samples/s; those of a single batch when that is hopeless"""
    step, batches = start(o, model, *choice), Batches(draw_order(len(samples), o.seed, 0), o.batch)

    def speed(n):
        some = batches.take(n)
        return len(some) / run_epoch(step, samples, some, o.batch)[1]

    speed(1)
    one = speed(1)
    if one < best / 2:
        return one
    n = min(max(round(0.5 * one / o.batch), 1), 16)  # about half a second
    return max(speed(n) for _ in range(2))


def fastest(o, model, samples):
    """Tries every variant with all cores, and the two best with fewer; returns (threads, variant) -> samples/s."""
    cores, speed = o.workers or os.cpu_count() or 1, {}
    variants = [o.variant] if o.variant else model.variants
    for threads in [cores] if o.workers or device == "cuda" else halves(cores):
        for choice in [(threads, v) for v in variants]:
            try:
                speed[choice] = try_choice(o, model, samples, choice, max(speed.values(), default=0))
            except Exception as why:  # whatever torch.compile or a kernel of this version says
                print(f"{PROGRAM}: {named(choice)}: {str(why).splitlines()[0]}", file=sys.stderr)
        variants = [v for _, v in sorted(speed, key=speed.get)[-2:]] if threads == cores else variants
    if not speed:
        shared.fail("no variant works with this PyTorch")
    return speed


def halves(n):
    return [n >> i for i in range(n.bit_length())]


def named(choice):
    return f"{choice[0]} thr., {choice[1]}"


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
    if o.variant and o.variant not in model.variants:
        shared.fail(f"no variant '{o.variant}'; there are {', '.join(model.variants)}")
    speed, choice = {}, (o.workers, o.variant or model.variants[0])
    if not o.workers or not o.variant and len(model.variants) > 1:
        speed = fastest(o, model, samples)
        choice = max(speed, key=speed.get)
    seconds, losses = train(o, start(o, model, *choice), samples, count)
    flops = float(forward_flops * (1 if o.infer else 3)) * o.epochs
    report = {
        "app": PROGRAM, "version": torch.__version__, "device": device_name(), "samples": len(samples) * o.epochs,
        "vertices": count * o.epochs, "epochs": o.epochs, "loss": losses[-1], "seconds": sum(seconds),
        "samples_per_s": len(samples) * o.epochs / sum(seconds), "flops": flops,
        "gflops": flops / sum(seconds) / 1e9, "workers": choice[0], "variant": choice[1],
        "epoch_seconds": seconds, "epoch_loss": losses, "tried": {named(c): x for c, x in speed.items()},
    }
    shared.report(o, report)
