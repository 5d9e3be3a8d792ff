"""The conformance runner counts what passes of the tests that count."""

import json
import lzma
import pathlib
import subprocess
import sys

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "conformance.py"
TESTS = """
from tensorflow.contrib.slim.python import test_util
from tensorflow.python.distribute import strategy_combinations
import tensorflow as tf

class WordTest(tf.test.TestCase):
    def testSame(self):
        self.assertAllEqual([strategy_combinations.ONE, test_util.TWO], tf.constant([1, 2]))

    def testOther(self):
        self.assertAllEqual([1, 3], tf.constant([1, 2]))

    def testUncounted(self):
        raise AssertionError("this one should not run")
"""


def test_tests_of_a_checkout_are_counted(tmp_path):
    folder = tmp_path / "sources" / "tensorflow" / "contrib" / "slim" / "python"
    folder.mkdir(parents=True)
    (folder / "words_test.py").write_text(TESTS)
    (folder / "test_util.py").write_text("TWO = 2\n")
    (folder / "other_test.py").write_text("raise RuntimeError('no test of this file counts')\n")
    # Tests of tf.contrib use helpers of the other tree, and none of its tests.
    core = tmp_path / "sources" / "tensorflow" / "python" / "distribute"
    core.mkdir(parents=True)
    (core / "strategy_combinations.py").write_text("ONE = 1\n")
    (core / "values_test.py").write_text("raise RuntimeError('this one is of another tree')\n")
    baseline = tmp_path / "baseline.json.xz"
    counted = {"slim__python__words_test.py": ["WordTest::testSame", "WordTest::testOther"]}
    baseline.write_bytes(lzma.compress(json.dumps(counted).encode()))
    arguments = [tmp_path / "sources", "--tree", "contrib", "--baseline", baseline, "--details", tmp_path / "details"]
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "details" / "slim__python__words_test.py.log").read_text()
    assert "1 of     2 fail in slim__python__words_test.py" in done.stdout and "1 of      2   50.0 %" in done.stdout, log
    assert (tmp_path / "details" / "slim__python__words_test.py.missed").read_text() == "WordTest::testOther\n"
    assert "should not run" not in log


def test_a_place_without_tests_is_named(tmp_path):
    done = subprocess.run([sys.executable, TOOL, tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and f"{tmp_path} holds neither tensorflow/python nor a git repository" in done.stderr


def test_the_api_is_counted():
    tool = TOOL.with_name("api_coverage.py")
    done = subprocess.run([sys.executable, "-m", "everflow", "run", tool], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = {line.partition(" names ")[0].strip(): line.split() for line in done.stdout.splitlines()}
    raw = rows["tf.raw_ops in all"]
    assert raw[raw.index("names") :][:4] == ["names", "1201", "of", "1201"]
    differs = subprocess.run([sys.executable, "-m", "everflow", "run", tool, "tf.no_such_place"], capture_output=True, text=True)
    assert differs.returncode == 0 and differs.stdout == ""
