"""Calls that are drawn, written down, answered and compared."""

import json
import os
import pathlib
import sys

import numpy as np
import pytest

import everflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import compare_ops
import op_calls
from op_calls import Answer, Call

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
        ("RandomUniform", True),
        ("ResourceScatterAdd", True),
        ("ApplyMomentum", True),
        ("Conv2D", True),
        ("DecodeCSV", True),
        ("QueueSizeV2", False),
        ("MapDataset", False),
        ("VarHandleOp", False),
        ("Enter", False),
    ],
)
def test_ops_with_handles_or_functions_have_no_part(name, plain):
    assert compare_ops.is_plain(name, DEFINITIONS[name]) is plain


@pytest.mark.parametrize("name", ["Add", "ConcatV2", "Conv2D", "ReduceJoin", "ArgMax", "QuantizedAdd", "ApplyAdam", "ParseExample"])
def test_a_seed_decides_the_calls_and_they_survive_travel(name, tmp_path):
    calls = compare_ops.drawn(name, DEFINITIONS[name], 30, 1)
    assert len(calls) == 30
    assert list(map(str, calls)) == list(map(str, compare_ops.drawn(name, DEFINITIONS[name], 30, 1)))
    assert list(map(str, calls)) != list(map(str, compare_ops.drawn(name, DEFINITIONS[name], 30, 2)))
    op_calls.write_calls(tmp_path / "c.npz", calls)
    assert list(map(str, op_calls.read_calls(tmp_path / "c.npz"))) == list(map(str, calls))


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
    op_calls.write_answers(tmp_path / "a.npz", answers)
    back = op_calls.read_answers(tmp_path / "a.npz")
    assert [compare_ops.difference(a, b) for a, b in zip(answers, back)] == ["the same", "both refuse", "the same"]
    assert back[2].values[0].tolist() == [b"\x00", b""]


def brain(number):
    words = np.array([number], np.float32).view(np.uint32) >> 16
    return Answer(None, "", [words.astype(np.uint16).view(op_calls.KINDS["bfloat16"])])


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
        (refusal("absent"), value(1.0), "absent here"),
        (brain(1.0), brain(1.0078125), "the same"),
        (brain(1.0), brain(1.25), "values"),
    ],
)
def test_differences_have_names(ours, theirs, expected):
    assert compare_ops.difference(ours, theirs) == expected


def test_calls_of_variables_read_them_after():
    var = Call("ResourceScatterAdd", {}, {"resource": np.float32([1, 2]), "indices": np.int32(1), "updates": np.float32(3)}, ["resource"])
    assert [v.tolist() for v in compare_ops.answered(tf, var).values] == [[1, 5]]
    held = Call("AssignSub", {}, {"ref": np.float32([1, 2]), "value": np.float32([3, 0])}, ["ref"], True)
    assert [v.tolist() for v in compare_ops.answered(tf, held).values] == [[-2, 2]] * 2


def test_shapes_of_what_is_fed_are_not_known_before():
    call = Call("Add", {}, {"x": np.float32([1, 2]), "y": np.float32([1, 2, 3])}, fed=True)
    assert compare_ops.answered(tf, call).error == "InvalidArgumentError"


def test_many_calls_of_ops_with_forms_are_answered():
    for name in ("Conv2DBackpropInput", "SparseConcat", "FusedBatchNormV3", "QuantizedConv2D", "SparseApplyAdagrad", "StringNGrams"):
        answers = [compare_ops.answered(tf, call) for call in op_calls.drawn(name, DEFINITIONS[name], 12, 0)]
        assert sum(answer.error is None for answer in answers) >= 3, name


def test_a_side_goes_on_after_a_call_that_ends_its_process(tmp_path, capsys, monkeypatch):
    calls = [Call("Abs", {}, {"x": np.float32([-1])}), Call("Abs", {}, {"x": np.float32([2])}), Call("Abs", {}, {"x": np.float32([-3])})]
    answered = compare_ops.answered
    monkeypatch.setattr(compare_ops, "answered", lambda tf, call: os._exit(1) if call.inputs["x"] == 2 else answered(tf, call))
    compare_ops.prepare(tmp_path, "Abs", calls)
    compare_ops.answer_all("everflow", tmp_path, "ours")
    assert [a.error for a in op_calls.read_answers(tmp_path / "Abs.ours.npz")] == [None, "died", None]
    op_calls.write_answers(tmp_path / "Abs.theirs.npz", [value(1.0), value(2.0), value(4.0)])
    sums = compare_ops.report(tmp_path, 2)
    assert (sums["answered by both"], sums["the same"], sums["refused here only"], sums["other type, shape or values"]) == (2, 1, 1, 1)
    told = capsys.readouterr().out
    assert "Abs: 3 calls, 2 answered by both, 2 differ" in told and "refused (died): Abs(x=float32[1][2.0])" in told


def test_what_was_said_to_the_same_calls_is_kept(tmp_path):
    calls = [Call("Abs", {}, {"x": np.float32([-1])})]
    compare_ops.prepare(tmp_path, "Abs", calls)
    for side in ("ours", "theirs"):
        op_calls.write_answers(tmp_path / f"Abs.{side}.npz", [value(1.0)])
    compare_ops.prepare(tmp_path, "Abs", calls)
    assert not (tmp_path / "Abs.ours.npz").exists() and (tmp_path / "Abs.theirs.npz").exists()
    compare_ops.prepare(tmp_path, "Abs", calls * 2)
    assert not (tmp_path / "Abs.theirs.npz").exists()
