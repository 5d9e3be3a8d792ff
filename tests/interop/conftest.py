"""Real TensorFlow and real TensorBoard, in virtual environments of their own, to read what Everflow wrote."""

import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import venv

import pytest

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "everflow"


def installed(name: str, *packages: str) -> pathlib.Path:
    """The Python of an environment that has these packages, made at its first use."""
    folder = CACHE / f"{name}-{sys.version_info.major}.{sys.version_info.minor}"
    CACHE.mkdir(parents=True, exist_ok=True)
    # Workers, and other runs of the tests, wait until the first of them has made it.
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(folder, *packages)
    return folder / "bin" / "python"


def _install(folder: pathlib.Path, *packages: str) -> None:
    venv.create(folder, with_pip=True, clear=True)
    try:
        install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
        done = subprocess.run(install, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{packages[0]} could not be installed: the registry takes too long")
    if done.returncode:
        reason = done.stderr.strip().splitlines() or ["pip failed"]
        pytest.skip(f"{packages[0]} could not be installed: {reason[-1]}")
    (folder / "complete").touch()


@pytest.fixture(scope="session")
def real_tensorflow(tmp_path_factory):
    """Runs code in a real TensorFlow: `found = ...` in the code is what comes back."""
    python = os.environ.get("EVERFLOW_REAL_TENSORFLOW") or installed("real-tensorflow", "tensorflow-cpu")
    return runner([python], tmp_path_factory.mktemp("real") / "reads.py")


@pytest.fixture(scope="session")
def tensorflow_1(tmp_path_factory):
    """The same in TensorFlow 1.15, which has what later ones dropped."""
    python = os.environ.get("EVERFLOW_REAL_TENSORFLOW_1")
    if not python:
        pytest.skip("TensorFlow 1.15 needs Python 3.7: EVERFLOW_REAL_TENSORFLOW_1 is to name one that has it")
    return runner([python], tmp_path_factory.mktemp("classic") / "reads.py")


@pytest.fixture(scope="session")
def everflow_run(tmp_path_factory):
    """The same under `everflow run`."""
    return runner([sys.executable, "-m", "everflow", "run"], tmp_path_factory.mktemp("ours") / "reads.py")


def runner(command: list, script: pathlib.Path):
    """Runs code by a command that has TensorFlow."""

    def run(code: str, *arguments: object) -> object:
        imports = "import json, sys\nimport numpy as np\nimport tensorflow as tf\n"
        script.write_text(f"{imports}{code}\nprint('found', json.dumps(found))\n")
        done = subprocess.run(
            [*command, script, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=1200,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.rsplit("found ", 1)[1])

    return run


@pytest.fixture(scope="session")
def tensorboard_python():
    """A Python that has TensorBoard, and Playwright to look at it."""
    return os.environ.get("EVERFLOW_REAL_TENSORBOARD") or installed("tensorboard", "tensorboard", "playwright")


@pytest.fixture(scope="session")
def jupyter():
    """A Python that has a Jupyter kernel."""
    return os.environ.get("EVERFLOW_REAL_JUPYTER") or installed("notebooks", "ipykernel", "nbclient")


@pytest.fixture(scope="session")
def browser():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine to look at TensorBoard with")
    return found


@pytest.fixture(scope="session")
def serving_api_python():
    """A Python that has TensorFlow and the tensorflow-serving-api package."""
    return os.environ.get("EVERFLOW_REAL_SERVING_API") or installed("serving-api", "tensorflow-cpu", "tensorflow-serving-api")
