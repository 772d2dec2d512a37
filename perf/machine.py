# SPDX-License-Identifier: Apache-2.0
"""The machine that measurements are of, and the source."""
import os
import platform
import re
import subprocess
from pathlib import Path

import runs


def output(*command):
    """What a command prints, or nothing."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=runs.environment()).stdout.strip()
    except OSError:
        return ""


def lscpu():
    lines = (line.split(":", 1) for line in output("lscpu").splitlines() if ":" in line)
    return {k.strip(): v.strip() for k, v in lines}


def processor_name():
    cpu = lscpu()
    name = cpu.get("Model name", platform.processor())
    return f"{name} (family {cpu.get('CPU family', '?')} model {cpu.get('Model', '?')}), {os.cpu_count()} cores"


def processor_features():
    cpu = lscpu()
    flags = cpu.get("Flags", "").split()
    vectors = [name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags]
    caches = ", ".join(f"{c[:3].strip()} {cpu[c]}" for c in ("L1d cache", "L2 cache", "L3 cache") if c in cpu)
    virtual = ", virtual machine" if "Hypervisor vendor" in cpu else ""
    return f"{vectors[0] if vectors else 'no AVX'}{virtual}; {caches}"


def memory():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2**30:.0f} GiB"


def system():
    try:
        names = dict(re.findall(r'^(\w+)="?([^"\n]*)', Path("/etc/os-release").read_text(), re.M))
    except OSError:
        names = {}
    return f"{names.get('PRETTY_NAME', platform.system())}, Linux {platform.release()}"


def commit():
    name = output("git", "-C", str(runs.TOP), "rev-parse", "--short", "HEAD")
    changed = output("git", "-C", str(runs.TOP), "status", "--porcelain", "--untracked-files=no", "--", ".",
                     ":!perf/RESULTS.md", ":!perf/processors.json", ":!perf/figures")  # which report writes
    return (name or "not from git") + (" with local changes" if changed else "")
