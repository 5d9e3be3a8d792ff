"""Times Everflow against real TensorFlow interpreters in one run and prints the ratios.

    python benchmarks/run.py [name=python ...] [--cases a,b] [--rounds 3] [--cpu native,avx2] [--memory]

Each peer is the path of a Python that has TensorFlow; those called `torch` and `compiled` are of one that has PyTorch, and run the cases'
translations, eager or through torch.compile. Every case runs in a process of its own, the implementations taking turns, and the
best round of each counts. `--memory` compares the memory that a case takes at most, above what an idle session does. With several kinds
of processors, a table is made for each: this one may stand for lesser ones.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from processors import environment, kinds, processor_name

HERE = pathlib.Path(__file__).resolve().parent


def cases():
    """Every case with the module that holds it, module after module."""
    found = {}
    for path in sorted((HERE / "cases").glob("*.py")):
        lines = path.read_text().splitlines()
        found.update({line[4 : line.index("(")]: path.stem for before, line in zip(lines, lines[1:]) if before == "@case"})
    return found


def measure(command, module, name, kind):
    done = subprocess.run([*command, module, name], capture_output=True, text=True, env=environment(kind))
    if done.returncode:
        print(f"{name} failed under {command[0]}:\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def shown(figure, what):
    if figure is None:
        return "-"
    return f"{figure / 1e6:.4g} MB" if what == "bytes" else shown_time(figure)


def shown_time(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.4g} {unit}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="*", metavar="name=python")
    parser.add_argument("--cases")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the usual time that each case takes")
    parser.add_argument("--cpu", default="native", help="kinds of processors, such as native,avx2")
    parser.add_argument("--memory", action="store_true", help="compare memory instead of time")
    args = parser.parse_args()
    what = "bytes" if args.memory else "seconds"
    os.environ["BENCH_SHARE"] = str(args.share)
    commands = {"everflow": [sys.executable, "-m", "everflow", "run", str(HERE / "case.py")]}
    for peer in args.peers:
        name, _, python = peer.partition("=")
        commands[name] = {
            "torch": [python, str(HERE / "translated.py")],
            "compiled": ["env", "BENCH_COMPILE=1", python, str(HERE / "translated.py")],
        }.get(name, [python, str(HERE / "case.py")])
    known = cases()
    for kind in kinds(args.cpu):
        table(kind, commands, {name: known[name] for name in (args.cases.split(",") if args.cases else known)}, args.rounds, what)


def table(kind, commands, chosen, rounds, what):
    """Prints the times, or the memory, of each case under each command, and the ratios of the others to the first."""
    peers = list(commands)[1:]
    print(f"{processor_name()} as {kind}")
    print("case".ljust(20) + "".join(n.rjust(14) for n in commands) + "".join(f"{n}/everflow".rjust(20) for n in peers))
    for name, module in chosen.items():
        best = dict.fromkeys(commands)
        for _ in range(rounds):
            for implementation, command in commands.items():
                found = (measure(command, module, name, kind) or {}).get(what)
                if found is not None and (best[implementation] is None or found < best[implementation]):
                    best[implementation] = found
        ours = best["everflow"]
        ratios = [f"{best[p] / ours:.2f}" if ours and best[p] else "-" for p in peers]
        print(name.ljust(20) + "".join(shown(s, what).rjust(14) for s in best.values()) + "".join(r.rjust(20) for r in ratios), flush=True)


if __name__ == "__main__":
    main()
