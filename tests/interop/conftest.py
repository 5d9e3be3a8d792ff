"""A real TensorFlow, in a virtual environment of its own, to read what Everflow wrote."""
import json
import os
import pathlib
import subprocess
import sys
import venv

import pytest

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "everflow" / (
    f"real-tensorflow-{sys.version_info.major}.{sys.version_info.minor}")


def _installed() -> pathlib.Path:
    given = os.environ.get("EVERFLOW_REAL_TENSORFLOW")
    if given:
        return pathlib.Path(given)
    python = CACHE / "bin" / "python"
    if not (CACHE / "complete").exists():
        venv.create(CACHE, with_pip=True, clear=True)
        try:
            install = [python, "-m", "pip", "install", "--quiet", "tensorflow-cpu"]
            done = subprocess.run(install, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            pytest.skip("a real TensorFlow could not be installed: the registry takes too long")
        if done.returncode:
            reason = done.stderr.strip().splitlines() or ["pip failed"]
            pytest.skip(f"a real TensorFlow could not be installed: {reason[-1]}")
        (CACHE / "complete").touch()
    return python


@pytest.fixture(scope="session")
def real_tensorflow(tmp_path_factory):
    """Runs code in a real TensorFlow: `found = ...` in the code is what comes back."""
    python = _installed()
    script = tmp_path_factory.mktemp("real") / "reads.py"

    def run(code: str, *arguments: object) -> object:
        imports = "import json, sys\nimport numpy as np\nimport tensorflow as tf\n"
        script.write_text(f"{imports}{code}\nprint('found', json.dumps(found))\n")
        done = subprocess.run([python, script, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.rsplit("found ", 1)[1])

    return run
