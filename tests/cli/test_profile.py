"""`everflow profile`: runs a program as `everflow run` does, and says where its time went."""

import json
import os
import subprocess
import sys

import pytest

from everflow.cli import profile

PROGRAM = """
import sys
import tensorflow as tf
x = tf.random_uniform([8, 8])
y = tf.matmul(x, x, name="product")
with tf.Session() as sess:
    for _ in range(12):
        sess.run(y)
print(sys.argv[1:], __name__)
sys.exit(int(sys.argv[1]))
"""


def everflow(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", "everflow", *arguments], cwd=cwd, capture_output=True, text=True, timeout=600)


def test_a_program_is_run_and_profiled(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = everflow("profile", "--steps=2", "--warmup", "3", "program.py", "7", "--steps", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, "['7', '--steps'] __main__\n")
    folder = tmp_path / "everflow_profile"
    table = (folder / "ops.txt").read_text()
    assert table.startswith("program.py ran for ") and "program.py:8: product\n  12 runs" in table and "program.py:5" in table
    assert table in done.stderr and done.stderr.endswith(f"{folder / 'profile.html'} shows more.\n")
    assert json.loads((folder / "timeline.json").read_text())["traceEvents"]
    assert (folder / "profile.html").read_text().startswith("<!doctype html>")


def test_an_uncaught_error_is_shown_as_python_shows_it_before_the_table(tmp_path):
    done = everflow("profile", "--out", "there", "-c", "import tensorflow\n1 / 0", cwd=tmp_path)
    assert done.returncode == 1 and "ZeroDivisionError: division by zero\n" in done.stderr
    assert done.stderr.index("ZeroDivisionError") < done.stderr.index("-c ran for ") and "everflow/cli" not in done.stderr
    assert sorted(os.listdir(tmp_path / "there")) == ["ops.txt", "profile.html", "timeline.json"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "there is no program to run (see everflow profile --help)"),
        (["--steps"], "--steps needs a value after it"),
        (["--steps", "0", "x.py"], "--steps must be a number from 1 on, not 0"),
        (["--warmup=few", "x.py"], "--warmup must be a number from 0 on, not few"),
        (["-i", "x.py"], "a prompt can't be profiled: leave out -i"),
        (["--out", "taken/inside", "x.py"], "can't write to taken/inside: Not a directory"),
    ],
)
def test_a_wrong_command_line_is_told(tmp_path, monkeypatch, capsys, arguments, error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    assert profile.main(arguments) == 2
    assert capsys.readouterr().err == f"everflow profile: {error}\n"
    assert os.listdir(tmp_path) == ["taken"]


def test_where_there_is_no_program_nothing_is_written(tmp_path):
    done = everflow("profile", "missing.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "everflow profile: can't open file 'missing.py': No such file or directory\n")
    assert os.listdir(tmp_path) == []


def test_its_help_says_what_is_written(capsys):
    assert profile.main(["--help"]) == 0
    assert "profile.html" in capsys.readouterr().out
