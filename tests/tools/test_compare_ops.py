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


NO_INPUT = Call("Identity", {}, {})


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
    assert [compare_ops.difference(NO_INPUT, a, b) for a, b in zip(answers, back)] == ["the same", "both refuse", "the same"]
    assert back[2].values[0].tolist() == [b"\x00", b""]


def brain(number):
    words = np.array([number], np.float32).view(np.uint32) >> 16
    return Answer(None, "", [words.astype(np.uint16).view(op_calls.KINDS["bfloat16"])])


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (value(1.0, np.nan, np.inf), value(1.00001, np.nan, np.inf), "the same"),
        (value(1.0), value(1.1), "values"),
        (value(np.inf), value(-np.inf), "values, not finite"),
        (value(1.0, 2.0), value(1.001, 2.0), "values, digits"),
        (value(1.0, dtype=np.float16), value(2.0, dtype=np.float16), "values, half"),
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
        (brain(1.0), brain(1.25), "values, half"),
    ],
)
def test_differences_have_names(ours, theirs, expected):
    assert compare_ops.difference(NO_INPUT, ours, theirs) == expected


@pytest.mark.parametrize("edge", [np.nan, -np.inf, np.finfo(np.float32).max, np.finfo(np.float32).tiny])
def test_values_that_differ_at_the_edges_of_types_say_so(edge):
    assert compare_ops.difference(Call("Neg", {}, {"x": np.float32([1, edge])}), value(1.0), value(2.0)) == "values, edges"
    assert compare_ops.difference(Call("Neg", {}, {"x": np.float32([1, 0])}), value(1.0), value(2.0)) == "values"


def test_vectors_of_decompositions_may_have_either_sign():
    s, u, v = np.float32([2, 1]), np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)
    call = Call("Svd", {"compute_uv": True}, {})
    assert compare_ops.difference(call, Answer(None, "", [s, -u, -v]), Answer(None, "", [s, u, v])) == "the same"
    assert compare_ops.difference(call, Answer(None, "", [s, -u, v]), Answer(None, "", [s, u, v])) == "values"


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("shape [1] for [2]", "shape"),
        ("2 outputs for 1", "outputs"),
        ("type float32 for float64", "type"),
        ("refused (ValueError)", "refused"),
        ("not refused (InternalError)", "not refused"),
        ("not refused (died)", "died"),
        ("refused (died)", "died here"),
        ("error InvalidArgumentError for ValueError", "later"),
        ("error ValueError for InvalidArgumentError", "earlier"),
        ("error InternalError for InvalidArgumentError", "other error"),
        ("values, half", "values, half"),
    ],
)
def test_kinds_leave_out_what_is_only_true_of_a_call(verdict, kind):
    assert compare_ops.kind_of(verdict) == kind


def test_rows_of_the_table_explain_differences(tmp_path):
    table = tmp_path / "known.md"
    table.write_text(
        "| Where | How | Here | There | Why | Calls |\n|---|---|---|---|---|---|\n"
        "| `Conv*`, `Lu` | `values`, `not refused: NHWC\\|NDHWC` | a | b | because | 3 |\n"
    )
    (row,) = compare_ops.read_known(table)
    assert row.reason == "because"
    refused = Answer("InvalidArgumentError", "only NDHWC", [])
    assert row.explains("values", Call("Lu", {}, {}), value(1.0), value(2.0))
    assert row.explains("not refused (InvalidArgumentError)", Call("Conv3D", {}, {}), value(1.0), refused)
    assert not row.explains("not refused (InvalidArgumentError)", Call("Conv3D", {}, {}), value(1.0), refusal("InvalidArgumentError"))
    assert not row.explains("values", Call("Qr", {}, {}), value(1.0), value(2.0))
    assert not row.explains("values, half", Call("Lu", {}, {}), value(1.0), value(2.0))


def test_the_table_of_known_differences_can_be_read():
    known = compare_ops.read_known(compare_ops.KNOWN)
    assert len(known) > 20 and all(row.reason is not None and row.kinds for row in known)


def test_gradients_of_pooling_are_asked_with_real_maxima():
    call = next(c for c in compare_ops.drawn("MaxPoolGrad", DEFINITIONS["MaxPoolGrad"], 40, 1) if _is_plain_pooling(c))
    pooled = tf.nn.max_pool2d(call.inputs["orig_input"], call.attrs["ksize"], call.attrs["strides"], call.attrs["padding"])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(pooled), call.inputs["orig_output"])


def _is_plain_pooling(call):
    images, pooled = call.inputs["orig_input"], call.inputs["orig_output"]
    return images.dtype == np.float32 and images.ndim == 4 and pooled.size and call.attrs["data_format"] == "NHWC" and images.max() < 9


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
    sums, explained = compare_ops.report(tmp_path, 2, [compare_ops.Known(["Abs"], [("values", "")], "")])
    assert (sums["unexplained"], explained) == (1, [1])
    assert (sums["answered by both"], sums["the same"], sums["refused here only"], sums["other type, shape or values"]) == (2, 1, 1, 1)
    told = capsys.readouterr().out
    assert "Abs: 3 calls, 2 answered by both, 1 differ unexplained" in told and "refused (died): Abs(x=float32[1][2.0])" in told


def test_what_was_said_to_the_same_calls_is_kept(tmp_path):
    calls = [Call("Abs", {}, {"x": np.float32([-1])})]
    compare_ops.prepare(tmp_path, "Abs", calls)
    for side in ("ours", "theirs"):
        op_calls.write_answers(tmp_path / f"Abs.{side}.npz", [value(1.0)])
    compare_ops.prepare(tmp_path, "Abs", calls)
    assert not (tmp_path / "Abs.ours.npz").exists() and (tmp_path / "Abs.theirs.npz").exists()
    compare_ops.prepare(tmp_path, "Abs", calls * 2)
    assert not (tmp_path / "Abs.theirs.npz").exists()
