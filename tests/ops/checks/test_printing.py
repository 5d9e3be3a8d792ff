"""tf.Print and tf.print show values when they are computed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import everflow as tf
from running import run


def test_print_hands_its_input_on(capfd):
    x = tf.constant([1.0, 2.0])
    y = tf.Print(x, [tf.constant([1.5, 2, 3, 4]), tf.constant("x"), tf.constant([[1, 2], [3, 4]]), tf.constant(True)], "msg: ")
    np.testing.assert_array_equal(run(y), [1.0, 2.0])
    assert capfd.readouterr().err == "msg: [1.5 2 3...][x][[1 2][3...]...][1]\n"
    np.testing.assert_array_equal(run(tf.gradients(y * 2.0, x)[0]), [2.0, 2.0])


def test_print_may_show_the_first_values_only(capfd):
    y = tf.Print(1.0, ["seen"], first_n=2)
    with tf.Session() as session:
        for _ in range(4):
            session.run(y)
    assert capfd.readouterr().err == "[seen]\n[seen]\n"


def test_print_shows_structures(capfd):
    run(tf.print(tf.constant(np.arange(8)), "x", tf.constant("y"), [tf.constant(1), "q"], {"k": tf.constant(2.5)}, sep="|"))
    assert capfd.readouterr().err == "[0 1 2 ... 5 6 7]|x|\"y\"|[1, 'q']|{'k': 2.5}\n"


def test_print_goes_to_a_stream_or_a_file(capfd, tmp_path):
    run(tf.print("out", output_stream=sys.stdout, end="!"))
    assert capfd.readouterr().out == "out!"
    target = tmp_path / "log"
    for text in ("a", "b"):
        run(tf.print(text, output_stream=f"file://{target}"))
    assert target.read_text() == "a\nb\n"
    run(tf.print("warned", output_stream=tf.logging.warning))
    assert capfd.readouterr().err.endswith("W warned\n")
    with pytest.raises(ValueError, match="Unsupported output stream, logging level, or file.weird"):
        tf.print("x", output_stream="weird")


def test_text_that_looks_like_a_placeholder_is_kept(capfd):
    run(tf.print("a{}b", tf.constant(1)))
    assert capfd.readouterr().err == "a{}b 1\n"


def test_time_goes_on():
    with tf.Session() as session:
        t = tf.timestamp()
        assert session.run(t) < session.run(t)
