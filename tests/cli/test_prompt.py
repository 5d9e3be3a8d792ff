"""`everflow run` without a program opens a prompt, as `python` does."""

import importlib.util
import os
import pty
import re
import select
import subprocess
import sys

import pytest

IPYTHON = importlib.util.find_spec("IPython") is not None


def terminal(*arguments, typed, wait_for, **environment):
    """What a program shows on a terminal after the lines are typed, until a pattern appears."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "everflow", "run", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
        start_new_session=True,
        env={**os.environ, "TERM": "dumb", "PYTHON_BASIC_REPL": "1", **environment},
    )
    os.close(theirs)
    shown = b""
    try:
        os.write(ours, typed.encode())
        while not re.search(wait_for.encode(), shown):
            assert select.select([ours], [], [], 60)[0], shown
            shown += os.read(ours, 65536)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return shown.decode()


@pytest.mark.skipif(IPYTHON, reason="IPython's prompt opens instead")
def test_a_prompt_opens_and_knows_tensorflow(tmp_path):
    startup = tmp_path / "startup.py"
    startup.write_text("mine = 'my own'")
    shown = terminal(
        typed="import tensorflow as tf\nprint(tf.__name__, tf.__version__, mine, 6 * 7)\n",
        wait_for="tensorflow 1.15.5 my own 42",
        PYTHONSTARTUP=str(startup),
    )
    assert shown.count("Python 3") == 1 and 'Type "help"' in shown and ">>> " in shown


@pytest.mark.skipif(IPYTHON, reason="IPython's prompt opens instead")
def test_the_prompt_stays_after_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport tensorflow as tf\nvalue = len(sys.argv) * 7\nsys.exit(3)")
    shown = terminal("-i", script, "--steps=3", typed="print('still', value, __name__)\n", wait_for="still 14 __main__")
    assert "SystemExit: 3" in shown and "everflow" not in shown


def test_standard_input_that_is_no_terminal_is_run_as_a_script(tmp_path):
    code = "import sys\nimport tensorflow as tf\nprint(sys.argv, tf.__version__, __name__)"
    done = subprocess.run([sys.executable, "-m", "everflow", "run"], input=code, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[''] 1.15.5 __main__\n", "")


def test_a_prompt_reads_what_is_piped_to_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "everflow", "run", "-i", "-c", "x = 5"],
        input="print(x, 'piped')\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "5 piped" in done.stdout and done.returncode == 0, done.stderr
