"""One line in a notebook makes `import tensorflow` find Everflow, in a real Jupyter kernel."""

import json
import os
import pathlib
import pty
import subprocess
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

RUNNER = """
import json, sys
import nbclient, nbformat.v4 as v4
notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in json.load(sys.stdin)])
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
print(json.dumps(["".join(o.get("text", "") for o in cell.outputs) for cell in notebook.cells]))
"""
TRAINING = """
import tensorflow as tf
x = tf.Variable(3.0)
step = tf.train.GradientDescentOptimizer(0.5).minimize(x * x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(tf.__version__, sess.run(x), type(sess))
"""
SHOWN = "1.15.5 0.0 <class 'tensorflow.python.client.session.Session'>\n"


@pytest.fixture
def notebook(jupyter):
    path = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])

    def run(*cells):
        done = subprocess.run(
            [jupyter, "-c", RUNNER],
            input=json.dumps(cells),
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_the_extension(notebook):
    shown = notebook(
        "%load_ext everflow",
        TRAINING,
        "%unload_ext everflow",
        "try:\n    import tensorflow\nexcept ImportError as error:\n    print(error)",
        "%load_ext everflow",
        TRAINING,
    )
    assert shown == ["", SHOWN, "", "No module named 'tensorflow'\n", "", SHOWN]


def test_the_import(notebook):
    assert notebook("import everflow.as_tensorflow", TRAINING)[1] == SHOWN


def test_a_prompt_of_ipython(jupyter, tmp_path):
    ours, theirs = pty.openpty()
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport tensorflow as tf\nvalue = sys.argv[1:]")
    path = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    process = subprocess.Popen(
        [jupyter, "-m", "everflow", "run", "-i", script, "--steps=3"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path, "TERM": "dumb", "IPYTHONDIR": str(tmp_path)},
    )
    os.close(theirs)
    shown = b""
    try:
        os.write(ours, b"print('still', tf.__version__, value)\n")
        while b"still 1.15.5 ['--steps=3']" not in shown:
            shown += os.read(ours, 65536)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"IPython" in shown
