"""How commands are read. Results and errors are those of 1.15.5."""

import sys

import numpy as np
import pytest

from everflow.debug.cli import command_parser as parser


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", []),
        (" pt  a[1, :] -s ", ["pt", "a[1, :]", "-s"]),
        ("eval 'np.sum(`a:0`, axis=0)' -a", ["eval", "np.sum(`a:0`, axis=0)", "-a"]),
        ('say ""', ["say", ""]),
        ("open 'quote", ["open", "'quote"]),
        ('a="b c"', ['a="b', 'c"']),
    ],
)
def test_words(command, words):
    assert parser.parse_command(command) == words


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["pt", "a"], (["pt", "a"], None)),
        (["pt", "a", ">", "f"], (["pt", "a"], "f")),
        (["pt", "a", ">f"], (["pt", "a"], "f")),
        (["pt", "a>f"], (["pt", "a"], "f")),
        (["pt", "a>", "f"], (["pt", "a"], "f")),
        (["lp", "-e", ">100ms"], (["lp", "-e", ">100ms"], None)),
        (["lp", "-e", ">=1.5s"], (["lp", "-e", ">=1.5s"], None)),
        (["lp", "--op_time=>3"], (["lp", "--op_time=>3"], None)),
        (["lp", "-r", ">file"], (["lp", "-r"], "file")),
        (["a", "x>y>z"], (["a", "x>y>z"], None)),
    ],
)
def test_output_goes_to_a_file(words, found):
    assert parser.extract_output_file_path(words) == found


def test_a_redirection_needs_a_file():
    with pytest.raises(SyntaxError, match="Redirect file path is empty"):
        parser.extract_output_file_path(["pt", "a", ">"])


def test_slices_of_tensors():
    array = np.arange(24).reshape(2, 3, 4)
    assert parser.parse_tensor_name_with_slicing("s/a:0[1, :]") == ("s/a:0", "[1, :]")
    assert parser.parse_tensor_name_with_slicing("s/a:0") == ("s/a:0", "")
    assert parser.evaluate_tensor_slice(array, "[1, 0:2, ::3]").tolist() == [[12, 15], [16, 19]]
    for text in ("[f()]", "[-1]", "[1", ""):
        with pytest.raises(ValueError, match="Invalid tensor-slicing string"):
            parser.evaluate_tensor_slice(array, text)


def test_indices():
    assert parser.parse_indices(" [1, -2] ") == parser.parse_indices("1,-2") == [1, -2]
    with pytest.raises(ValueError, match="invalid literal for int"):
        parser.parse_indices("[]")


def test_ranges():
    most = sys.float_info.max
    assert parser.parse_ranges(" ") == []
    assert parser.parse_ranges("[-inf, 2]") == [[-most, 2]]
    assert parser.parse_ranges("[[0, 1], [2.5, inf]]") == [[0, 1], [2.5, most]]
    for text, error in (("[1]", "number of elements"), ("['a', 1]", "type in the 1st element"), ("3", "a list of ranges")):
        with pytest.raises(ValueError, match=error):
            parser.parse_ranges(text)
    with pytest.raises(SyntaxError):
        parser.parse_ranges("[1")


def test_sizes_and_times():
    assert [parser.parse_readable_size_str(text) for text in ("7", " 2k ", "1.5MB", "1G")] == [7, 2048, 1572864, 2**30]
    assert [parser.parse_readable_time_str(text) for text in ("7", "2us", "1.5 ms", "3s")] == [7, 2, 1500, 3000000]
    with pytest.raises(ValueError, match='Failed to parsed human-readable byte size str: "1T"'):
        parser.parse_readable_size_str("1TB")
    with pytest.raises(ValueError, match="Invalid time -1. Time value must be positive"):
        parser.parse_readable_time_str("-1s")


def test_intervals():
    interval = parser.parse_time_interval("(10us, 1ms]")
    assert [interval.contains(value) for value in (10, 11, 1000, 1001)] == [False, True, True, False]
    assert parser.parse_memory_interval("<=2k") == parser.Interval(0, False, 2048, True)
    assert parser.parse_time_interval("> 1s") == parser.Interval(10**6, False, float("inf"), False)
    for text, error in (
        ("[1us, 2", "Invalid interval format"),
        ("[1, 2, 3]", "Interval should specify two values"),
        ("[2, 1]", "Start must be before end of interval"),
        ("<x", "Invalid value string after < in '<x'"),
        ("[x, 2]", "Invalid first item in interval: 'x'"),
    ):
        with pytest.raises(ValueError, match=error.replace("[", r"\[")):
            parser.parse_time_interval(text)
