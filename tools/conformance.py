"""Runs TensorFlow 1.15's own tests on Everflow, and counts how many pass of those that the real TensorFlow 1.15.5 passes.

    python tools/conformance.py TENSORFLOW [--tree contrib] [--match REGEX] [--jobs 2] [--details FOLDER] [-- COMMAND...]

TENSORFLOW is a checkout of its r1.15 sources, or a git directory of them. COMMAND is what runs pytest, `everflow run -m pytest` if nothing
is said; with another one the same tests judge any other implementation. docs/conformance.md tells more.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent

# {test file: names of the tests that the real TensorFlow passes}
Baseline = dict[str, list[str]]


@dataclasses.dataclass(frozen=True)
class Tree:
    """Where one set of tests lies, and what its files are called."""

    roots: tuple[str, ...]
    tests: str
    # Modules that only tests import: they come from TensorFlow's sources too, as tests do.
    helpers: str
    # What file names leave out of the path.
    prefix: str


# The helpers of tensorflow/python, which tests of tf.contrib import too.
PYTHON_HELPERS = (
    r"^tensorflow/python/(keras/(model_subclassing_test_util|distribute/(keras_correctness_test_base|multi_worker_testing_utils)"
    r"|layers/preprocessing/preprocessing_test_utils|mixed_precision/experimental/test_util)"
    r"|distribute/(combinations|model_combinations|strategy_combinations|strategy_test_lib|\w+_test_base|test_util|single_loss_example"
    r"|model_collection/\w+)|debug/(lib/session_debug_testlib|cli/cli_test_utils))\.py$"
)

TREES = {
    "python": Tree(
        ("tensorflow/python",),
        r"/(kernel_tests(/(linalg|distributions|random|signal))?|client|framework|ops(/(losses|ragged))?|training(/tracking)?|eager"
        r"|data/(experimental/)?kernel_tests|layers|feature_column|saved_model|summary(/writer)?|tools|keras(/(layers|engine|utils))?"
        r"|debug/(lib|cli|wrappers)|lib/io|util|platform|profiler|user_ops|distribute)/\w+_test\.py$",
        PYTHON_HELPERS,
        "tensorflow/python/",
    ),
    "contrib": Tree(
        ("tensorflow/contrib", "tensorflow/python"),
        r"^tensorflow/contrib/.*_test\.py$",
        r"^tensorflow/contrib/.*(test_utils?|test_base|test_data|testing_common|statistical_testing|/tests/match)\.py$|" + PYTHON_HELPERS,
        "tensorflow/contrib/",
    ),
    # The sources of tensorflow/estimator, a repository of its own.
    "estimator": Tree(
        ("tensorflow_estimator",), r"_test(_fc_v\d|_v\d)*\.py$", r"testing_utils(_v1)?\.py$", "tensorflow_estimator/(python/estimator/)?"
    ),
}


def sources(place: pathlib.Path, ref: str, tree: Tree) -> Iterator[tuple[str, bytes]]:
    """Tests and their helpers with their paths, from a checkout or a git directory."""

    def is_ours(path: str) -> bool:
        return bool(re.search(tree.tests, path) or re.search(tree.helpers, path))

    if all((place / root).is_dir() for root in tree.roots):
        for file in sorted(file for root in tree.roots for file in (place / root).rglob("*.py")):
            path = file.relative_to(place).as_posix()
            if is_ours(path):
                yield path, file.read_bytes()
        return
    git = ["git", f"--git-dir={place}"]
    listing = subprocess.run([*git, "ls-tree", "-r", "--name-only", ref, *tree.roots], capture_output=True, text=True)
    if listing.returncode:
        sys.exit(f"conformance: {place} holds neither {' and '.join(tree.roots)} nor a git repository with {ref}: {listing.stderr.strip()}")
    paths = [path for path in listing.stdout.splitlines() if is_ours(path)]
    for start in range(0, len(paths), 200):
        archive = subprocess.run([*git, "archive", ref, *paths[start : start + 200]], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for member in files:
                if (content := files.extractfile(member)) is not None:
                    yield member.name, content.read()


def lay_out(folder: pathlib.Path, files: Iterator[tuple[str, bytes]], tree: Tree, match: str, wanted: Baseline | None) -> list[str]:
    """Puts test files side by side into a folder, where nothing else of TensorFlow can be imported; returns their names."""
    names, helpers = [], {}
    (folder / "helpers").mkdir()
    for path, content in files:
        name = re.sub("^" + tree.prefix, "", path).replace("/", "__")
        if not re.search(tree.tests, path):
            (folder / "helpers" / name).write_bytes(content)
            helpers[path.removesuffix(".py").replace("/", ".")] = name
        elif re.search(match, path) and (wanted is None or name in wanted):
            (folder / name).write_bytes(content)
            names.append(name)
    (folder / "suite.json").write_text(json.dumps({"helpers": helpers, "wanted": wanted}))
    shutil.copy(HERE / "conformance_conftest.py", folder / "conftest.py")
    return sorted(names)


def run(name: str, folder: pathlib.Path, details: pathlib.Path, command: list[str], timeout: float) -> set[str]:
    """Runs one test file in a process of its own, and returns the tests that pass; what it prints goes to the details."""
    passed = folder / f"{name}.passed"
    passed.touch()
    options = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:warnings", str(folder / name)]
    surroundings = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CONFORMANCE_PASSED": str(passed)}
    with (details / f"{name}.log").open("wb") as log:
        try:
            subprocess.run([*command, *options], stdout=log, stderr=log, timeout=timeout, cwd=folder, env={**os.environ, **surroundings})
        except subprocess.TimeoutExpired:
            log.write(f"\nstopped after {timeout:g} seconds\n".encode())
    return set(passed.read_text().splitlines())


def group_of(name: str, tree: str) -> str:
    """The folder of a test file; of tf.contrib, the project."""
    return name.partition("__")[0] if tree == "contrib" else name.rpartition("__")[0].replace("__", "/")


def table(baseline: Baseline, found: dict[str, set[str]], tree: str) -> str:
    """A row for each folder, and one for all: tests that pass, of those that the real TensorFlow passes."""
    asked: collections.Counter[str] = collections.Counter()
    passed: collections.Counter[str] = collections.Counter()
    for name, tests in found.items():
        for group in (group_of(name, tree), "all"):
            asked[group] += len(baseline.get(name, ()))
            passed[group] += len(tests.intersection(baseline.get(name, ())))
    rows = sorted(asked.items(), key=lambda row: (row[0] == "all", row[0]))
    return "\n".join(f"{group:32} {passed[group]:6,} of {n:6,}  {100 * passed[group] / n if n else 0:5.1f} %" for group, n in rows)


def main() -> None:
    arguments, dashes, command = sys.argv[1:], "--", [sys.executable, "-m", "everflow", "run", "-m", "pytest"]
    if dashes in arguments:
        cut = arguments.index(dashes)
        arguments, command = arguments[:cut], arguments[cut + 1 :]
        command[0] = os.path.abspath(shutil.which(command[0]) or command[0])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensorflow", type=pathlib.Path, help="a checkout of r1.15, or a git directory")
    parser.add_argument("--ref", default="HEAD", help="which commit of a git directory")
    parser.add_argument("--tree", choices=TREES, default="python", help="which tests")
    parser.add_argument("--match", default="", help="only test files whose path this regular expression finds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many test files run side by side")
    parser.add_argument("--timeout", type=float, default=240, help="seconds that a test file may take")
    parser.add_argument("--details", type=pathlib.Path, help="folder for the output of each test file")
    parser.add_argument("--baseline", type=pathlib.Path, help="what the real TensorFlow passes (.json.xz)")
    parser.add_argument("--write-baseline", action="store_true", help="write it, where COMMAND runs the real TensorFlow")
    given = parser.parse_args(arguments)
    file = given.baseline or HERE / "baselines" / f"{given.tree}.json.xz"
    baseline: Baseline = json.loads(lzma.decompress(file.read_bytes())) if file.exists() else {}
    if not baseline and not given.write_baseline:
        sys.exit(f"conformance: there is no {file}; --write-baseline makes one with a real TensorFlow")
    details = (given.details or pathlib.Path(tempfile.mkdtemp(prefix="conformance_"))).resolve()
    details.mkdir(parents=True, exist_ok=True)
    found: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory(prefix="tensorflow_tests_") as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        tree = TREES[given.tree]
        files = sources(given.tensorflow.expanduser().resolve(), given.ref, tree)
        names = lay_out(pathlib.Path(folder), files, tree, given.match, None if given.write_baseline else baseline)
        jobs = {pool.submit(run, name, pathlib.Path(folder), details, command, given.timeout): name for name in names}
        for job in concurrent.futures.as_completed(jobs):
            name = jobs[job]
            found[name] = job.result()
            if not given.write_baseline and (missed := sorted({*baseline[name]} - found[name])):
                print(f"{len(missed):5} of {len(baseline[name]):5} fail in {name}", flush=True)
                (details / f"{name}.missed").write_text("\n".join(missed) + "\n")
    if given.write_baseline:
        baseline |= {name: sorted(tests) for name, tests in found.items() if tests}
        file.write_bytes(lzma.compress(json.dumps(baseline, indent=0, sort_keys=True).encode(), preset=9))
    print(table(baseline, found, given.tree))
    print(f"What failed, and how: {details}")


if __name__ == "__main__":
    main()
