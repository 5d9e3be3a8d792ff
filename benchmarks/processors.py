"""Has programs run on less than this processor can do: what a machine with AVX-512 proves, holds on one with AVX2 too.

python benchmarks/processors.py                      # the processor, and the kinds that it can stand for
python benchmarks/processors.py avx2 COMMAND ...     # runs a command on this kind
python benchmarks/processors.py lesser COMMAND ...   # on each kind but the best, one after the other
"""

import os
import platform
import subprocess
import sys

from everflow import _native

# Ours, torch's and oneDNN's; today's TensorFlow has oneDNN too. TensorFlow 1.15 was compiled for one kind and stays as it is.
VARIABLES = {
    "avx512": {"EVERFLOW_CPU": "avx512"},
    "avx2": {"EVERFLOW_CPU": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "baseline": {"EVERFLOW_CPU": "baseline", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
}


def kinds(asked_for):
    """The kinds of a list such as native,avx2 that this machine has, each once."""
    here = _native.processors()
    names = [here[-1] if name == "native" else name for name in asked_for.split(",")]
    for name in names:
        if name not in VARIABLES:
            raise SystemExit(f"A processor is native, {', '.join(VARIABLES)}, not {name}.")
    return [name for name in dict.fromkeys(names) if name in here]


def environment(kind):
    """The variables of this process with those of a kind in the place of others."""
    known = {name for variables in VARIABLES.values() for name in variables}
    return {**{name: value for name, value in os.environ.items() if name not in known}, **VARIABLES[kind]}


def processor_name():
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def main(asked_for=None, *command):
    if asked_for is None:
        print(f"{processor_name()}: {', '.join(_native.processors())}")
        return
    for kind in _native.processors()[:-1] if asked_for == "lesser" else kinds(asked_for):
        print(f"On {processor_name()} as {kind}:", flush=True)
        code = subprocess.run(command, env=environment(kind)).returncode
        if code:
            raise SystemExit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
