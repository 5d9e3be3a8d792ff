"""`everflow run --progress`: a live line about training, on terminals only."""

import io
import os
import pty
import re
import subprocess
import sys

import pytest

from everflow.cli.progress import ERASE, Above, Line

LOOP = """
import sys
import tensorflow as tf
w = tf.get_variable("w", [], initializer=tf.ones_initializer())
loss = tf.square(w)
"""
MONITORED = (
    LOOP
    + """
train = tf.train.GradientDescentOptimizer(0.25).minimize(loss, tf.train.get_or_create_global_step())
with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(40)]) as sess:
    while not sess.should_stop():
        sess.run(train)
"""
)
PLAIN = (
    LOOP
    + """
train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(30):
        sess.run([train, loss])
        sess.run(loss)
    print("said by the program")
"""
)
NOT_TRAINING = (
    LOOP
    + """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(30):
        sess.run(loss)
"""
)


def shown(program, *options):
    """What a terminal gets to see of a program."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb") as screen:
        process = subprocess.Popen([sys.executable, "-m", "everflow", "run", *options, "-c", program], stdout=theirs, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while part := screen.read1():
                text += part
        except OSError:
            # How a terminal tells that nobody writes to it any more.
            pass
        assert process.wait() == 0, text.decode()
    return text.decode()


@pytest.mark.parametrize("program, steps", [(MONITORED, 40), (PLAIN, 30)])
def test_the_last_line_tells_the_last_step(program, steps):
    *_, last = shown(program, "--progress").split(ERASE)
    assert re.fullmatch(rf"step {steps}  loss \S+  [\d.]+ steps/s\r\n", last)


def test_what_the_program_prints_stays():
    before, after = shown(PLAIN, "--progress").split("said by the program\r\n")
    assert before.endswith(ERASE)
    assert after.startswith(ERASE + "step 30")


def test_runs_that_do_not_train_and_programs_without_the_option_show_nothing():
    assert shown(NOT_TRAINING, "--progress") == ""
    assert shown(MONITORED + "\nassert 'everflow.cli.progress' not in sys.modules") == ""


def test_nothing_is_shown_where_no_terminal_is():
    done = subprocess.run([sys.executable, "-m", "everflow", "run", "--progress", "-c", MONITORED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_line_that_the_program_has_not_ended_is_not_overwritten():
    terminal = io.StringIO()
    line = Line(terminal)
    out = Above(terminal, line)
    line.draw("step 1")
    out.write("a question: ")
    line.draw("step 2")
    out.write("answer\n")
    line.draw("step 3")
    line.end()
    assert terminal.getvalue() == f"{ERASE}step 1{ERASE}a question: answer\n{ERASE}step 3\n"
