"""`everflow run`: as `python`, except that `import tensorflow` finds Everflow."""

import os
import signal
import subprocess
import sys
import time
import zipfile

import pytest

from everflow.alias import CHILDREN
from everflow.cli.main import COMMANDS, TOOLS


def everflow(*arguments, cwd=None, stdin="", **environment):
    return subprocess.run(
        [sys.executable, "-m", "everflow", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **environment},
    )


def python(*arguments, cwd=None, stdin=""):
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, input=stdin, capture_output=True, text=True, timeout=600)


@pytest.fixture
def script(tmp_path):
    def write(text, name="program.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


REPORT = """
import sys

from everflow.alias import CHILDREN
from everflow.cli.main import COMMANDS, TOOLS
print(sys.argv[1:], __name__, sys.modules["__main__"].__dict__ is globals(), sys.path[0], __spec__ and __spec__.name)
print(globals().get("__file__"), sys.argv[0], __package__)
"""


def test_a_script_finds_everflow_as_tensorflow(script):
    done = everflow("run", script("import tensorflow as tf; print(tf.__version__, tf.__name__)"))
    assert (done.returncode, done.stdout) == (0, "1.15.5 tensorflow\n")


def test_a_script_sees_what_python_shows_it(script, tmp_path):
    path = script(REPORT)
    for shown, where in ((path, None), ("program.py", tmp_path), (f"../{tmp_path.name}/program.py", tmp_path)):
        expected = python(shown, "--steps=3", "-m", "x", cwd=where)
        done = everflow("run", shown, "--steps=3", "-m", "x", cwd=where)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")


def test_a_module_sees_what_python_shows_it(script, tmp_path):
    script(REPORT, "module.py")
    (tmp_path / "package").mkdir()
    script(REPORT, "package/__init__.py")
    script(REPORT, "package/__main__.py")
    for module in ("module", "package", "package.__main__"):
        expected = python("-m", module, "a", "-c", cwd=tmp_path)
        done = everflow("run", "-m", module, "a", "-c", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")


def test_code_sees_what_python_shows_it(tmp_path):
    expected = python("-c", REPORT, "a", "--b", cwd=tmp_path)
    done = everflow("run", "-c", REPORT, "a", "--b", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")


def test_standard_input(tmp_path):
    done = everflow("run", "-", "a", stdin=REPORT, cwd=tmp_path)
    assert done.stdout == python("-", "a", stdin=REPORT, cwd=tmp_path).stdout


def test_folders_and_zip_files(script, tmp_path):
    (tmp_path / "folder").mkdir()
    script(REPORT, "folder/__main__.py")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", REPORT)
    for path in (tmp_path / "folder", tmp_path / "app.zip"):
        done = everflow("run", path, "a")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == python(path, "a").stdout.splitlines()[0]


def test_a_neighbour_of_the_script_can_be_imported(script):
    script("value = 5", "neighbour.py")
    assert everflow("run", script("import neighbour; print(neighbour.value)")).stdout == "5\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="PYTHONSAFEPATH is new in Python 3.11")
def test_a_safe_path_stays_safe(script, tmp_path):
    path = script("import sys; print(sys.path)")
    expected = subprocess.run([sys.executable, "-P", path], capture_output=True, text=True).stdout
    assert everflow("run", path, PYTHONSAFEPATH="1").stdout == expected


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit('enough')", 1, "enough\n"),
        ("raise SystemExit(3)", 3, ""),
    ],
)
def test_exit_statuses(script, code, status, error):
    done = everflow("run", script(code))
    assert (done.returncode, done.stderr) == (status, error)


def test_tracebacks_are_those_of_python(script):
    path = script("def f():\n    1 / 0\n\ntry:\n    f()\nexcept ArithmeticError as e:\n    raise KeyError(1) from e\n")
    done = everflow("run", path)
    assert (done.returncode, done.stderr) == (1, python(path).stderr)
    wrong = script("x = (\n", "wrong.py")
    assert everflow("run", wrong).stderr == python(wrong).stderr
    assert everflow("run", "-c", "1 / 0").stderr == python("-c", "1 / 0").stderr


def test_the_programs_own_excepthook_is_used(script):
    done = everflow("run", script("import sys\nsys.excepthook = lambda kind, *_: print('hook', kind.__name__)\n1 / 0"))
    assert (done.returncode, done.stdout, done.stderr) == (1, "hook ZeroDivisionError\n", "")


def test_an_interrupt_ends_with_130(script):
    path = script("import time\nprint('ready', flush=True)\ntime.sleep(600)")
    # Where the tests run in the background, interrupts are ignored, and children inherit that.
    with subprocess.Popen(
        [sys.executable, "-m", "everflow", "run", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=600)
    assert process.returncode == 130
    assert error.endswith("KeyboardInterrupt\n") and "everflow" not in error


def test_classes_of_the_script_can_be_pickled(script):
    code = "import pickle\nclass Thing: pass\nprint(type(pickle.loads(pickle.dumps(Thing()))) is Thing)"
    assert everflow("run", script(code)).stdout == "True\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_find_everflow_too(script, method):
    path = script(f"""
import multiprocessing
import tensorflow as tf

def describe(x):
    return x, tf.__version__

if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(1) as pool:
        print(pool.map(describe, [1]))
""")
    done = everflow("run", path)
    assert (done.stdout, done.stderr) == ("[(1, '1.15.5')]\n", "")


@pytest.mark.parametrize("name", ["tensorflow", "tensorflow_core", "tensorflow_estimator", "tensorflow.python.ops.math_ops"])
def test_python_processes_of_any_kind_find_everflow_too(script, name):
    code = f"import {name}; import tensorflow as tf; print(tf.__version__, tf.Session().run(tf.constant(2) * 3))"
    path = script(f"import subprocess, sys\nimport tensorflow\nsubprocess.run([sys.executable, '-c', {code!r}], check=True)")
    assert everflow("run", path).stdout == "1.15.5 6\n"


def test_another_python_that_a_program_starts_finds_its_own_tensorflow(tmp_path):
    """Here by its search path, without Everflow's."""
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("version = 'of its own'")
    path = os.pathsep.join([str(CHILDREN), str(tmp_path)])
    code = "import sys; sys.modules['everflow'] = None; import tensorflow; print(tensorflow.version)"
    done = subprocess.run([sys.executable, "-S", "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.stdout == "of its own\n", done.stderr


def test_pytest_runs_with_rewritten_assertions(script, tmp_path):
    script(
        """
from tensorflow.python.framework import dtypes
import tensorflow as tf

def test_same():
    assert tf.float32 is dtypes.float32

def test_different():
    assert [1, 2] == [1, 3]
""",
        "some_test.py",
    )
    done = everflow("run", "-m", "pytest", "-q", "--import-mode=importlib", "some_test.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout and "At index 1 diff: 2 != 3" in done.stdout


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["run", "-m"], "everflow run: -m needs a module after it"),
        (["run", "-c"], "everflow run: -c needs code after it"),
        (["run", "-x"], "everflow run: there is no option -x (see everflow run --help)"),
        (["run", "nowhere.py"], "everflow run: can't open file 'nowhere.py': No such file or directory"),
        (["run", "-m", "no_such_module"], "everflow run: No module named no_such_module"),
        (["run", "-m", "no_such_package.module"], "everflow run: No module named no_such_package.module"),
        (["run", "-m", "http"], "everflow run: 'http' is a package and has no __main__ module"),
        (["run", "-m", "zlib"], "everflow run: module zlib has no Python code to run"),
        (["dance"], f"everflow: there is no command 'dance' (the commands are: {', '.join([*COMMANDS, *TOOLS])})"),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments, sentence, tmp_path):
    done = everflow(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence + "\n")


def test_an_import_error_inside_the_module_is_shown(script, tmp_path):
    (tmp_path / "package").mkdir()
    script("import not_installed_anywhere", "package/__init__.py")
    script("", "package/__main__.py")
    done = everflow("run", "-m", "package", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'not_installed_anywhere'\n")


def test_help_and_version():
    from everflow.about import version

    assert everflow("--version").stdout == f"everflow {version}\n"
    assert "run a TensorFlow program" in everflow("--help").stdout == everflow().stdout
    assert everflow("run", "--help").stdout.startswith("usage: everflow run")


def test_numpy_has_its_old_names_and_shows_numbers_as_it_did(script):
    found = everflow("run", script("import numpy as np\nprint(np.float is float, [np.float32(1.5), np.bool_(False)])"))
    assert found.stdout == "True [1.5, False]\n"


def test_arrays_have_their_old_methods(script):
    found = everflow(
        "run",
        script("""
import numpy as np
a = np.array([[1, 2], [3, 9]], np.uint8)
print(a.tostring(), a[0, 1].tostring(), a.ptp(), a.ptp(axis=0), np.array([1], np.int16).newbyteorder())
a.itemset(3, 7)
a.itemset((0, 0), 5)
a.itemset(1, 0, 6)
print(a.tolist())
"""),
    )
    assert found.stdout == "b'\\x01\\x02\\x03\\t' b'\\x02' 8 [2 7] [256]\n[[5, 2], [6, 7]]\n", found.stderr


def test_files_left_open_are_written_at_the_end(tmp_path):
    program = """
import atexit, tensorflow as tf

class Log:
    def __init__(self, path):
        self.itself, self.file = self, open(path, "w")

kept = open("kept.txt", "w")
kept.write("kept")
looped = Log("looped.txt")
looped.file.write("looped")
tf.Session().run(tf.constant(1))
atexit.register(kept.write, " to the end")
"""
    (tmp_path / "program.py").write_text(program)
    done = everflow("run", "program.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "kept.txt").read_text() == "kept to the end"
    assert (tmp_path / "looped.txt").read_text() == "looped"


def test_a_program_that_ends_at_once_ends_well():
    for _ in range(3):
        done = everflow("run", "-c", "print('ends')")
        assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_forked_at_once_compute_too():
    program = """
import os
child = os.fork()
import tensorflow as tf
os.write(1, b"%d\\n" % tf.Session().run(tf.constant(1) + 1))
if child:
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = everflow("run", "-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n2\n", "")
