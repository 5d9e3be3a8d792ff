"""Text, bytes and dates as `tf.compat` treats them."""

import pathlib

import pytest

import everflow as tf
from everflow import compat


def test_text_and_bytes_convert_both_ways():
    assert compat.as_bytes("é") == b"\xc3\xa9" == compat.as_bytes(bytearray(b"\xc3\xa9"))
    assert compat.as_text(b"\xc3\xa9") == "é" == compat.as_str("é")
    assert [compat.as_str_any(x) for x in (b"a", "a", 3)] == ["a", "a", "3"]


@pytest.mark.parametrize("convert", [compat.as_bytes, compat.as_text])
def test_other_values_are_refused(convert):
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        convert(3)


def test_paths_become_text():
    assert compat.path_to_str(pathlib.PurePosixPath("/a/b")) == "/a/b"
    assert compat.path_to_str(b"a") == b"a"


def test_the_horizon_moves_and_comes_back():
    assert compat.forward_compatible(2019, 8, 20) and not compat.forward_compatible(2019, 8, 21)
    with compat.forward_compatibility_horizon(2030, 1, 2):
        assert compat.forward_compatible(2030, 1, 1) and not compat.forward_compatible(2030, 1, 2)
    assert not compat.forward_compatible(2019, 8, 21)


def test_graphs_for_earlier_versions_add_as_those_did():
    one = tf.constant(1)
    with tf.compat.forward_compatibility_horizon(2019, 6, 7):
        assert (one + one).op.type == "Add"
    assert (one + one).op.type == "AddV2"
