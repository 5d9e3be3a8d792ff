"""Programs in C: libtensorflow.so.1 brings the interpreter that they don't have."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import everflow as tf

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(tf.__file__).parent
COMPILER = shutil.which("gcc") or shutil.which("clang")


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_a_program_runs_a_saved_model_and_a_graph_of_its_own(tmp_path, session):
    x = tf.placeholder(tf.float32, [None], name="x")
    factor = tf.Variable(3.0)
    y = tf.identity(x * factor + 1.0, name="y")
    session.run(factor.initializer)
    tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    program, library = tmp_path / "program", PACKAGE / "libtensorflow.so.1"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{PACKAGE / 'include'}", str(library), f"-Wl,-rpath,{PACKAGE}"]
    subprocess.run([COMPILER, str(HERE / "program.c"), "-o", str(program), *flags], check=True)
    done = subprocess.run(
        [str(program), str(tmp_path / "model")],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "EVERFLOW_PYTHON": sys.executable},
    )
    assert done.stdout.splitlines() == ["version: 1.15.5", "meta graph: there", "y: 4 7", "freed: 1", "lengths: 3 0 5", "not fed: 3"], (
        done.stderr
    )
    assert done.returncode == 0


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_a_program_without_python_ends_with_a_sentence(tmp_path):
    (tmp_path / "program.c").write_text('#include "tensorflow/c/c_api.h"\nint main(void) { return TF_NewGraph() == 0; }\n')
    flags = [f"-I{PACKAGE / 'include'}", str(PACKAGE / "libtensorflow.so.1"), f"-Wl,-rpath,{PACKAGE}"]
    subprocess.run([COMPILER, str(tmp_path / "program.c"), "-o", str(tmp_path / "program"), *flags], check=True)
    done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, env={"EVERFLOW_PYTHON": "/nowhere/python"})
    assert done.stderr == "libtensorflow (Everflow): no Python with what Everflow needs was found; EVERFLOW_PYTHON may name one.\n"
