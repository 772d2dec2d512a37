# SPDX-License-Identifier: Apache-2.0
"""What a simulated GPU takes, from what perf/gpu-check has measured of one.

A kernel takes a time of its own, and products and other kernels take what their multiplications and bytes take: three
numbers (codelets/simulated_time.c).  They are chosen so that Tree-LSTM on the GPU alone is predicted as well as three
numbers can, over all sizes that gpu-check has measured: the mean square of the relative errors is least.
"""
import json
import re
from dataclasses import dataclass
from pathlib import Path

import runs

MEASURED = runs.PERF / "gpu-h200.json"  # of gpu-check: what predictions are made with if nothing else is said
MOST = 1e9  # GFLOP/s and GB/s: of what takes no time that shows


@dataclass
class Row:
    """An epoch of Tree-LSTM on the GPU alone."""
    h: int
    batch: int
    samples: int
    seconds: float


def cost(launch_us, gflops, gbytes):
    """CAVS_DEVICE_COST."""
    return f"{launch_us:g} {gflops:g} {gbytes:g}"


@dataclass
class Gpu:
    name: str
    launch_us: float
    gflops: float
    gbytes: float

    def cost(self):
        return cost(self.launch_us, self.gflops, self.gbytes)


@dataclass
class Counted:
    """What a GPU does in an epoch."""
    launches: float
    gflop: float
    gbyte: float


def read(path):
    """The name of the GPU, GFLOP/s that it reaches at most, and the rows of Tree-LSTM on it: of a report of gpu-check, or
    of as much of one as is asked for here."""
    report = json.loads(Path(path).read_text())
    rows = []
    for r in report["rows"]:
        size = re.fullmatch(r"Tree-LSTM h (\d+), K (\d+)", r["name"])
        if size and r["where"] == "device":
            result = r["result"]
            rows.append(Row(int(size[1]), int(size[2]), result["samples"] // result["epochs"],
                            result["epoch_seconds"][-1]))
    if report["device"] != "cuda" or report["stand_in"] or not rows:
        raise runs.Failed(f"{path}: no Tree-LSTM that a GPU has computed")
    return report["name"], report["peak"]["gemm_gflops"], rows


def fit(counted, measured, peak):
    """launch_us, gflops, gbytes: no more than that peak."""
    terms = [[1e-6 * c.launches / s, c.gflop / s, c.gbyte / s] for c, s in zip(counted, measured)]
    least = found = [0, 1 / peak, 0]
    for _ in range(2000):  # one after the other, as well as the other two allow
        for k in range(3):
            rest = [1 - sum(f * x for i, (f, x) in enumerate(zip(found, t)) if i != k) for t in terms]
            best = sum(r * t[k] for r, t in zip(rest, terms)) / sum(t[k] ** 2 for t in terms)
            found = [*found[:k], max(best, least[k]), *found[k + 1:]]
    launch_us, *rest = found
    return launch_us, *(1 / max(each, 1 / MOST) for each in rest)
