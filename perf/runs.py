# SPDX-License-Identifier: Apache-2.0
"""What the programs of perf/ share: finding the built programs, running them, medians, tables.

A measurement is several runs of one program, each of several epochs.  The first epoch of a run is
left out (kernels are generated and memory is touched in it); of the others the median counts, and of
the runs again the median.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PERF = Path(__file__).resolve().parent
TOP = PERF.parent
SST_TREES = 8544  # in the whole training set
# for root, for more ranks than cores, and without binding all ranks to one core (Open MPI; others do not look)
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}
FLOP_PER_LSTM_TREE = 3 * (19.14 * 6 + 18.14 * 16)  # times h^2, training, SST's mean tree, e = h


class Failed(Exception):
    """A run that ended badly; the text says why."""


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- command lines -----------------------------------------------------------------------------------


def parser(doc, runs=3, svg=False):
    """The options that all programs here have. runs: how many are usual; svg: it can draw."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", metavar="DIR", help="build directory (default: the current directory, "
                   "build/ or the source tree, whichever has apps/tree_lstm)")
    p.add_argument("--quick", action="store_true", help="small and short, to see that everything works; "
                   "its numbers mean nothing")
    p.add_argument("--runs", type=int, metavar="N",
                   help=f"runs of each measurement (default {runs}, with --quick 1)")
    p.add_argument("--json", metavar="FILE", help="write the results there too")
    if svg:
        p.add_argument("--svg", metavar="FILE", help="draw them there")
    p.set_defaults(svg=None, usual_runs=runs)
    return p


def parse(p):
    o = p.parse_args()
    o.build = find_build(o.build)
    if o.runs is None:
        o.runs = 1 if o.quick else o.usual_runs
    return o


def find_build(given):
    places = [Path(given)] if given else [Path.cwd(), TOP / "build", TOP]
    for place in places:
        if (place / "apps" / "tree_lstm").exists():
            return place.resolve()
    sys.exit(f"{Path(sys.argv[0]).name}: no apps/tree_lstm in {' or '.join(map(str, places))}: "
             "build first (configure, make), or name the build directory with --build DIR")


def save(o, value, svg=None):
    """Writes what --json and --svg ask for; svg is a function that draws."""
    if o.json:
        Path(o.json).write_text(json.dumps(value, indent=1) + "\n")
    if o.svg:
        Path(o.svg).write_text(svg())


def guard(main):
    """Runs a program; what made it impossible goes to stderr as one line."""
    try:
        main()
    except Failed as why:
        sys.exit(f"{Path(sys.argv[0]).name}: {why}")
    except KeyboardInterrupt:
        sys.exit(130)


# ---- data --------------------------------------------------------------------------------------------


def data_folder():
    return Path(os.environ.get("CAVS_DATA") or TOP.parent / "shared" / "data")


def data_file(name):
    path = data_folder() / name
    if not path.exists():
        raise Failed(f"no data at {path}: set CAVS_DATA to the folder that has {name}")
    return path


_parts = {}


def first_part(name, n, samples_end_at=b"\n"):
    """A file with the first n lines of a data file, or with samples_end_at b"\\n\\n" its first n paragraphs;
    gone when the program ends."""
    if (name, n) not in _parts:
        text = data_file(name).read_bytes().split(samples_end_at, n)[:n]
        file = tempfile.NamedTemporaryFile("wb", suffix=Path(name).suffix)
        file.write(samples_end_at.join(text) + samples_end_at)
        file.flush()
        _parts[name, n] = file
    return _parts[name, n].name


def repeated(name, n):
    """The same of its lines, which begin anew after the last."""
    if (name, n) not in _parts:
        lines = data_file(name).read_bytes().splitlines(keepends=True)
        file = tempfile.NamedTemporaryFile("wb", suffix=Path(name).suffix)
        file.writelines(lines[i % len(lines)] for i in range(n))
        file.flush()
        _parts[name, n] = file
    return _parts[name, n].name


def first_trees(n):
    """More than there are: those that there are, again and again."""
    name = "sst/train.txt"
    return data_file(name) if n == SST_TREES else first_part(name, n) if n < SST_TREES else repeated(name, n)


# ---- running -----------------------------------------------------------------------------------------


def environment():
    env = dict(os.environ)
    env.setdefault("CAVS_DATA", str(data_folder()))
    env.setdefault("STARPU_SILENT", "1")
    env.setdefault("STARPU_FXT_TRACE", "0")
    return env


def last_line(text):
    lines = [s for s in text.splitlines() if s.strip() and not s.startswith("Try `")]
    return lines[-1] if lines else "nothing was printed"


def execute(command, timeout=7200):
    """Runs a program that prints JSON; returns what it printed last."""
    command = [str(c) for c in command]
    try:
        done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=timeout)
    except FileNotFoundError:
        raise Failed(f"{command[0]} is not there: build it (make)") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {timeout} s") from None
    if done.returncode < 0:
        raise Failed(f"ended by signal {-done.returncode}: {last_line(done.stderr)}")
    if done.returncode:
        raise Failed(f"exit status {done.returncode}: {last_line(done.stderr)}")
    try:
        return json.loads(last_line(done.stdout))
    except ValueError:
        raise Failed(f"no JSON but: {last_line(done.stdout)}") from None


_help = {}


def lacks(program, options):
    """The first of these options that a program does not have, or None."""
    if program not in _help:
        done = subprocess.run([str(program), "--help"], env=environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        _help[program] = set(re.findall(r"--[a-z][a-z-]*", done.stdout))
    for option in options:
        if str(option).startswith("--") and option not in _help[program]:
            return option
    return None


class Measurement:
    """The runs of one command, as rates of its median epoch."""

    def __init__(self, runs, field="epoch_seconds"):
        self.runs = runs
        epochs = [epoch_seconds(r, field) for r in runs]
        self.seconds = statistics.median(statistics.median(e) for e in epochs)
        self.spread = max(max(e) for e in epochs) / min(min(e) for e in epochs) - 1
        self.samples = runs[0]["samples"] / runs[0]["epochs"]
        self.rate = self.samples / self.seconds
        self.gflops = runs[0]["flops"] / runs[0]["epochs"] / self.seconds / 1e9
        self.workers = runs[0]["workers"]
        self.peak = self.median("sgemm_peak_gflops")
        self.ratio = self.gflops / self.peak if self.peak else None
        self.of_floor = self.median("floor_s") and self.per_epoch("floor_s") / self.seconds

    def median(self, field):
        values = [r[field] for r in self.runs if r.get(field) is not None]
        return statistics.median(values) if values else None

    def per_epoch(self, field):
        value = self.median(field)
        return None if value is None else value / self.runs[0]["epochs"]

    def share(self, field):
        """Of the whole time of a run, the first epoch included."""
        values = [r[field] / r["seconds"] for r in self.runs if r.get(field) is not None]
        return statistics.median(values) if values else None


def epoch_seconds(run, field="epoch_seconds"):
    seconds = run[field]
    return seconds[1:] or seconds


def measure(command, runs, label=None):
    """Raises Failed, also when the program lacks an option: that is reported, never skipped."""
    program, args = command[0], command[1:]
    if not Path(program).exists():
        raise Failed(f"{Path(program).name} is not built")
    missing = lacks(program, args)
    if missing:
        raise Failed(f"{Path(program).name} has no option {missing}")
    results = []
    for i in range(runs):
        say(f"  {label or Path(program).name}" + (f", run {i + 1} of {runs}" if runs > 1 else ""))
        results.append(execute([program, *args, "--json", "--quiet"]))
    return Measurement(results)


def try_measure(command, runs, label=None):
    """(measurement, None) or (None, why not)."""
    try:
        return measure(command, runs, label), None
    except Failed as why:
        say(f"  {label or command[0]}: {why}")
        return None, str(why)


# ---- commands ----------------------------------------------------------------------------------------


def tree_lstm(build, h, batch=64, trees=SST_TREES, epochs=3):
    """The `bench` cell with Adam on the first trees of SST, embedding as wide as the state."""
    return [build / "apps" / "tree_lstm", *lstm_options(h, batch, trees, epochs),
            "--cell", "bench", "--optimizer", "adam"]


def lstm_options(h, batch, trees, epochs):
    """The options which apps/tree_lstm, perf/floor and perf/peers/tree_lstm_torch share."""
    return ["--train", first_trees(trees), "--hidden", h, "--embed", h, "--batch", batch,
            "--epochs", epochs]


def tagger(build, model, h, sentences, batch=64, epochs=3):
    """model: bilstm_tagger or bilstm_char_tagger"""
    return [build / "apps" / model, *tagger_options(h, sentences, batch, epochs)]


def tagger_options(h, sentences, batch, epochs):
    """The options which the taggers and perf/peers/dynet share."""
    return ["--train", first_part("wikiner10k/train.txt", sentences), "--hidden", h, "--batch", batch,
            "--epochs", epochs]


def parser_options(h, sentences, batch, epochs):
    """apps/dyn_parser, which explores from the first epoch on"""
    return ["--train", first_part("ud_ewt/en_ewt-ud-train.conllu", sentences, b"\n\n"), "--hidden", h, "--batch", batch,
            "--epochs", epochs, "--explore-after", 0]


def tree_fc(build, h, leaves, shape="balanced", samples=512, batch=64, epochs=3):
    return [build / "apps" / "tree_fc", *fc_options(h, leaves, shape, samples, batch, epochs),
            "--variant", "fold"]


def fc_options(h, leaves, shape, samples, batch, epochs):
    return ["--hidden", h, "--leaves", leaves, "--tree", shape, "--samples", samples,
            "--batch", batch, "--epochs", epochs]


def language_model(build, model, h, lines, batch=64, epochs=3):
    """model: fixed_lstm (chains of 64 words) or var_lstm (sentences)"""
    command = [build / "apps" / model, *language_options(h, lines, batch, epochs)]
    return [*command, "--sentences"] if model == "var_lstm" else command


def language_options(h, lines, batch, epochs):
    """The options which apps/fixed_lstm, apps/var_lstm and perf/peers/lstm_torch share."""
    return ["--train", first_part("wikitext2/wiki.train.tokens", lines), "--hidden", h, "--embed", h,
            "--batch", batch, "--epochs", epochs]


# ---- peers -------------------------------------------------------------------------------------------


def peer_python(name):
    """A Python with torch or dynet, or None."""
    done = subprocess.run([str(PERF / "peers" / "setup"), name, "--find"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def peer_options(p):
    p.add_argument("--no-peers", action="store_true", help="leave PyTorch and DyNet out")


def find_peers(o):
    """Sets o.torch and o.dynet, each a Python or None."""
    o.torch, o.dynet = (None if o.no_peers else peer_python(name) for name in ("torch", "dynet"))


def missing_peers(o, *wanted):
    """A line for each that was not measured; wanted: those that would have been, if not both."""
    names = {"torch": ("PyTorch", o.torch), "dynet": ("DyNet", o.dynet)}
    return "".join(f"\n{name} was left out" + (".\n" if o.no_peers else f": `perf/peers/setup {key}` installs it.\n")
                   for key, (name, python) in names.items() if not python and (not wanted or key in wanted))


def torch_lstm(python, h, batch=64, trees=SST_TREES, epochs=3):
    return [python, PERF / "peers" / "tree_lstm_torch", *lstm_options(h, batch, trees, epochs)]


def torch_fc(python, h, leaves, shape="balanced", samples=512, batch=64, epochs=3):
    return [python, PERF / "peers" / "tree_fc_torch", *fc_options(h, leaves, shape, samples, batch, epochs)]


def torch_language_model(python, model, h, lines, batch=64, epochs=3):
    return [python, PERF / "peers" / "lstm_torch", *language_options(h, lines, batch, epochs),
            "--chains", {"fixed_lstm": "fixed", "var_lstm": "sentences"}[model]]


def torch_rate(found, bf16):
    """Of a Measurement of PyTorch: its best with bf16 or without, in the proportion that its trial of all variants
    had; None: it tried none such."""
    tried = found.runs[0]["tried"]
    speeds = [speed for name, speed in tried.items() if ("bf16" in name) == bf16]
    return found.rate * max(speeds) / max(tried.values()) if speeds else None


def gcn(build, epochs, dropout):
    return [build / "apps" / "gcn", "--epochs", epochs, "--dropout", dropout]


def torch_gcn(python, epochs, dropout):
    return [python, PERF / "peers" / "gcn_torch", "--epochs", epochs, "--dropout", dropout]


def dynet(python, model, options):
    """model: tree_lstm, tree_fc, bilstm_tagger or bilstm_char_tagger; options: those of that program"""
    return [python, PERF / "peers" / "dynet", "--model", model, *options]


def measure_peer(command, runs, label, epochs="epoch_seconds"):
    """Like try_measure(), for a program in Python.  epochs: the field that has the seconds."""
    try:
        say(f"  {label}")
        return Measurement([execute([*command, "--json", "--quiet"]) for _ in range(runs)], epochs), None
    except Failed as why:
        say(f"  {label}: {why}")
        return None, str(why)


DYNET_COMPUTES, DYNET_BUILDS = "epoch_computation_s", "epoch_construction_s"


def dynet_build(python):
    """How its library was made; `perf/peers/setup dynet` found that out."""
    try:
        return (Path(python).parent.parent / "build").read_text().strip()
    except OSError:
        return "unknown"


# ---- the machine -------------------------------------------------------------------------------------


def busy_cores(seconds=1.0):
    """How many cores other programs kept busy just now; None where /proc does not tell."""

    def read():
        with open("/proc/stat") as f:
            numbers = [int(x) for x in f.readline().split()[1:9]]
        return sum(numbers) - numbers[3] - numbers[4]

    try:
        before = read()
        time.sleep(seconds)
        return (read() - before) / os.sysconf("SC_CLK_TCK") / seconds
    except (OSError, ValueError, IndexError):
        return None


def warn_if_busy():
    """Says on stderr that the machine is not quiet. Returns the number of busy cores, or None."""
    busy = busy_cores()
    if busy is not None and busy > 0.1:
        say(f"warning: other programs keep {busy:.1f} cores busy: the numbers will be too low")
    return busy


def core_to_core(build):
    """Nanoseconds a cache line takes from one core to another; None where there is one core only."""
    done = subprocess.run([build / "perf" / "core_to_core"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return int(done.stdout) if done.returncode == 0 else None


# ---- tables ------------------------------------------------------------------------------------------


def number(x, digits=3):
    """So many significant digits, thousands separated; a dash for what is not there."""
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return "-"
    if x == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    return f"{x:,.{places}f}"


def percent(x):
    return "-" if x is None else f"{100 * x:.1f} %"


def table(head, rows):
    """A markdown table that reads well as text too; the first column is left-aligned."""
    rows = [[str(c) for c in row] for row in rows]
    width = [max(len(str(c)) for c in column) for column in zip(head, *rows)]
    align = lambda cells: "| " + " | ".join(
        str(c).ljust(w) if i == 0 else str(c).rjust(w)
        for i, (c, w) in enumerate(zip(cells, width))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":"
                          for i, w in enumerate(width)) + "|"
    return "\n".join([align(head), rule, *(align(row) for row in rows)])
