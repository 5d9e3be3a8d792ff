"""`everflow alias`: plain `python` finds Everflow where it looks for TensorFlow."""

import os
import pathlib
import subprocess
import sys
import sysconfig
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Runs the Python of an environment of its own, in which Everflow and what it needs can be imported."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    executable = folder / "bin" / "python"
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "everflow.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")

    def run(*arguments, status=0):
        # Programs that other tests ran may have left word for processes that they start.
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([executable, *map(str, arguments)], capture_output=True, text=True, cwd=folder, env=plain)
        assert done.returncode == status, done.stderr
        return done.stdout or done.stderr

    run.site, run.executable, run.folder = site, executable, folder
    return run


@pytest.fixture
def installed(python):
    assert "finds Everflow" in python("-m", "everflow", "alias", "install")
    yield python
    python("-m", "everflow", "alias", "remove")


def test_programs_and_packages_find_tensorflow(installed):
    script = installed.folder / "train.py"
    script.write_text("import tensorflow as tf, everflow\nprint(tf.__version__, tf.Tensor is everflow.Tensor, tf.Tensor.__module__)")
    assert installed(script) == "1.15.5 True tensorflow.python.framework.ops\n"
    for first in (
        "import tensorflow_core as tf",
        "import tensorflow_estimator, tensorflow as tf",
        "from tensorflow.python import framework",
        "import tensorflow.keras.layers",
        "from tensorflow import keras",
    ):
        assert installed("-c", f"{first}\nimport tensorflow as tf\nprint(tf.keras.layers.Dense)") == (
            "<class 'tensorflow.python.keras.layers.core.Dense'>\n"
        )
    assert installed("-c", "import importlib.metadata as m; print(m.version('tensorflow'), m.version('tensorflow-estimator'))") == (
        "1.15.5 1.15.1\n"
    )


def test_pip_is_content(installed):
    pip = [sys.executable, "-m", "pip", "--python", installed.executable]
    listed = subprocess.run([*pip, "list", "--format=freeze", "--path", installed.site], capture_output=True, text=True, check=True).stdout
    assert listed.split() == ["tensorflow==1.15.5", "tensorflow-estimator==1.15.1"]
    checked = subprocess.run([*pip, "check"], capture_output=True, text=True)
    assert "tensorflow" not in checked.stdout, checked.stdout


def test_tests_find_tensorflow(installed):
    test = installed.folder / "test_something.py"
    test.write_text("import tensorflow as tf\n\ndef test_version():\n    assert tf.__version__ == '1.15.5'")
    assert "1 passed" in installed("-m", "pytest", "-q", "-p", "no:cacheprovider", test)


def test_remove_leaves_nothing(python):
    before = sorted(python.site.rglob("*"))
    python("-m", "everflow", "alias", "install")
    python("-m", "everflow", "alias", "install")
    assert python("-c", "import tensorflow") == ""
    assert "no longer" in python("-m", "everflow", "alias", "remove")
    assert sorted(python.site.rglob("*")) == before
    assert "there is no alias" in python("-m", "everflow", "alias", "remove", status=1)
    assert "No module named 'tensorflow'" in python("-c", "import tensorflow", status=1)


def test_a_real_tensorflow_is_left_alone(python):
    (python.site / "tensorflow").mkdir()
    real = python.site / "tensorflow" / "__init__.py"
    real.write_text("__version__ = '2.0'")
    try:
        assert python("-m", "everflow", "alias", "install", status=1).startswith("everflow alias: a TensorFlow is installed already (")
        assert real.read_text() == "__version__ = '2.0'"
        assert python("-c", "import everflow.as_tensorflow, tensorflow as tf; print(tf.__version__)") == "1.15.5\n"
    finally:
        real.unlink()
        for pycache in real.parent.rglob("*.pyc"):
            pycache.unlink()


def test_mistakes_are_told_in_one_sentence(python):
    expected = "everflow alias: give `install` or `remove` (see everflow alias --help)\n"
    assert python("-m", "everflow", "alias", status=2) == python("-m", "everflow", "alias", "dance", status=2) == expected
