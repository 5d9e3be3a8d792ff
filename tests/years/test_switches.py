"""Where the shims are, where they are not, and what --report tells."""

import os
import pathlib
import subprocess
import sys

import pytest

from everflow.years import SWITCH
from everflow.years.shims import TABLE

PROGRAM = """\
from collections import Iterable
import numpy as np
print(np.int, isinstance([], Iterable))
for i in range(2):
    np.array([[1], [2, 3]])
"""


def python(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={**{k: v for k, v in os.environ.items() if k != SWITCH}, **environment},
    )


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def test_programs_find_them(program):
    done = python("-m", "everflow", "run", "program.py", cwd=program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "<class 'int'> True\n", "")
    done = python("-c", "import everflow.as_tensorflow, program", cwd=program)
    assert (done.returncode, done.stdout) == (0, "<class 'int'> True\n")


def test_plain_everflow_leaves_libraries_alone(program):
    done = python("-c", "import everflow as tf, sys; tf.constant(1); print('everflow.years' in sys.modules); import program", cwd=program)
    assert done.stdout == "False\n" and "cannot import name 'Iterable'" in done.stderr


def test_modern_switches_them_off(program):
    done = python("-m", "everflow", "run", "--modern", "program.py", cwd=program)
    assert done.returncode == 1 and "cannot import name 'Iterable'" in done.stderr
    done = python("-m", "everflow", "run", "--modern", "-c", "import tensorflow as tf; print(tf.__version__)", cwd=program)
    assert done.stdout == "1.15.5\n"
    done = python("-c", "import everflow.as_tensorflow, program", cwd=program, EVERFLOW_YEARS="off")
    assert "cannot import name 'Iterable'" in done.stderr


def test_report_tells_what_was_used_where(program):
    done = python("-m", "everflow", "run", "--report", "program.py", cwd=program)
    assert done.returncode == 0
    head, *lines = done.stderr.splitlines()
    assert head.startswith("everflow: what was used of earlier years")
    assert [line.split("  ")[1].strip() for line in lines] == [
        "collections.Iterable",
        "np.array and its kin of lists of different lengths",
        "numpy.int",
    ]
    assert lines[0].endswith("Python 3.10  program.py:1") and lines[1].endswith("program.py:5 (2 times)")
    assert lines[2].endswith("numpy 1.24   program.py:3")
    done = python("-m", "everflow", "run", "--report", "-c", "print(1)", cwd=program)
    assert (done.stdout, done.stderr) == ("1\n", "everflow: nothing of earlier years was used\n")
    assert python("-m", "everflow", "run", "--report", "--modern", "program.py", cwd=program).returncode == 2


def test_processes_that_a_program_starts_do_as_it_does(program):
    (program / "spawn.py").write_text(
        "import multiprocessing, time\n"
        "def work(_):\n    return hasattr(time, 'clock')\n"
        "if __name__ == '__main__':\n    print(multiprocessing.get_context('spawn').Pool(1).map(work, [0]))\n"
    )
    assert python("-m", "everflow", "run", "spawn.py", cwd=program).stdout == "[True]\n"
    assert python("-m", "everflow", "run", "--modern", "spawn.py", cwd=program).stdout == "[False]\n"


def test_the_page_lists_every_shim():
    from everflow.years import scipy, shims

    for library in shims.LIBRARIES:
        try:
            shims.importlib.import_module(f"everflow.years.{shims.LIBRARIES[library]}")
        except ModuleNotFoundError as error:
            assert error.name == library
    lines = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "years.md").read_text().splitlines()
    known = {f"scipy.{name}" for name in scipy._NUMPY} | {title for title in TABLE if title.endswith("__path__")}

    def listed(title):
        """As a sentence, as `module`, or as `name` in the row of a `module`."""
        module, _, name = title.rpartition(".")
        return any(title in line or f"| `{module}` |" in line and f"`{name}`" in line for line in lines)

    assert [title for title in TABLE if title not in known and not listed(title)] == []
