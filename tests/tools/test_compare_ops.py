"""Calls that are drawn, written down, answered and compared."""

import json
import pathlib
import sys

import numpy as np
import pytest

import everflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import compare_ops
from compare_ops import Answer, Call

DEFINITIONS = json.loads(compare_ops.FACTS.read_text())


def value(*numbers, dtype=np.float32):
    return Answer(None, "", [np.array(numbers, dtype)])


def refusal(error):
    return Answer(error, "no", [])


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Add", True),
        ("ConcatV2", True),
        ("RandomUniform", False),
        ("QueueSizeV2", False),
        ("MapDataset", False),
        ("VarHandleOp", False),
        ("Enter", False),
    ],
)
def test_ops_with_state_or_handles_have_no_part(name, plain):
    assert compare_ops.is_plain(name, DEFINITIONS[name]) is plain


@pytest.mark.parametrize("name", ["Add", "ConcatV2", "Conv2D", "ReduceJoin", "ArgMax"])
def test_a_seed_decides_the_calls_and_they_survive_travel(name, tmp_path):
    calls = compare_ops.drawn(name, DEFINITIONS[name], 30, 1)
    assert len(calls) == 30
    assert list(map(str, calls)) == list(map(str, compare_ops.drawn(name, DEFINITIONS[name], 30, 1)))
    assert list(map(str, calls)) != list(map(str, compare_ops.drawn(name, DEFINITIONS[name], 30, 2)))
    compare_ops.write_calls(tmp_path / "c.npz", calls)
    assert list(map(str, compare_ops.read_calls(tmp_path / "c.npz"))) == list(map(str, calls))


def test_calls_give_values_or_errors():
    good = compare_ops.answered(tf, Call("Add", {}, {"x": np.float32([1, 2]), "y": np.float32(3)}))
    assert good.error is None and good.values[0].tolist() == [4, 5]
    texts = compare_ops.answered(tf, Call("StringJoin", {"separator": "-"}, {"inputs": [np.array(b"a", object), np.array(b"b", object)]}))
    assert texts.values[0].tolist() == b"a-b"
    bad = compare_ops.answered(tf, Call("Add", {}, {"x": np.float32([1, 2]), "y": np.float32([1, 2, 3])}))
    assert bad.error == "ValueError" and "must be equal" in bad.text
    assert compare_ops.answered(tf, Call("NoSuchOp", {}, {})).error == "absent"
    typed = compare_ops.answered(tf, Call("Cast", {"DstT": "float", "Truncate": False}, {"x": np.int32(3)}))
    assert typed.values[0].dtype == np.float32


def test_answers_survive_travel(tmp_path):
    answers = [value(1.0, np.nan), refusal("ValueError"), Answer(None, "", [np.array([b"\x00", b""], object), np.int64(3).reshape(())])]
    compare_ops.write_answers(tmp_path / "a.npz", answers)
    back = compare_ops.read_answers(tmp_path / "a.npz")
    assert [compare_ops.difference(a, b) for a, b in zip(answers, back)] == ["the same", "both refuse", "the same"]
    assert back[2].values[0].tolist() == [b"\x00", b""]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (value(1.0, np.nan, np.inf), value(1.00001, np.nan, np.inf), "the same"),
        (value(1.0), value(1.1), "values"),
        (value(np.inf), value(-np.inf), "values"),
        (value(1, dtype=np.int32), value(2, dtype=np.int32), "values"),
        (value(complex(1, np.inf), dtype=np.complex64), value(complex(1, np.inf), dtype=np.complex64), "the same"),
        (value(1.0), value(1.0, dtype=np.float64), "type float32 for float64"),
        (value(1.0), value(1.0, 2.0), "shape [1] for [2]"),
        (value(1.0), Answer(None, "", []), "1 outputs for 0"),
        (refusal("ValueError"), value(1.0), "refused (ValueError)"),
        (value(1.0), refusal("ValueError"), "not refused (ValueError)"),
        (refusal("TypeError"), refusal("ValueError"), "error TypeError for ValueError"),
        (value(1.0), refusal("absent"), "not there"),
    ],
)
def test_differences_have_names(ours, theirs, expected):
    assert compare_ops.difference(ours, theirs) == expected


def test_a_side_goes_on_after_a_call_that_ends_its_process(tmp_path, capsys):
    calls = [Call("Abs", {}, {"x": np.float32(-1)}), Call("Abs", {}, {"x": np.float32(2)})]
    compare_ops.write_calls(tmp_path / "Abs.calls.npz", calls)
    (tmp_path / "ours.dead").write_text(json.dumps([["Abs.calls.npz", 1]]))
    compare_ops.answer_all("everflow", tmp_path, "ours")
    assert [a.error for a in compare_ops.read_answers(tmp_path / "Abs.ours.npz")] == [None, "died"]
    compare_ops.write_answers(tmp_path / "Abs.theirs.npz", [value(1.0), value(2.0)])
    assert compare_ops.report(tmp_path, 2) == (1, 2)
    told = capsys.readouterr().out
    assert "Abs: 2 calls, 1 answered by both, 2 differ" in told
    assert "shape [] for [1]: Abs(x=float32[]-1.0)" in told and "refused (died)" in told
