"""What `everflow profile` writes: a table, a timeline and a page."""

import json
import re

import pytest

import everflow as tf
from everflow.profiler import program_report
from everflow.profiler.costs import Costs
from everflow.profiler.recorder import Recorder


@pytest.fixture
def costs(session):
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    with tf.name_scope("layer"):
        y = tf.nn.relu(tf.matmul(x, tf.ones([8, 8]), name="product"))
    recorder = Recorder(2, 1)
    with recorder.watching():
        for _ in range(8):
            session.run(y, {x: [[1.0] * 8]})
    return Costs(recorder)


def test_the_table_has_the_ops_and_what_lies_outside(costs):
    text = program_report.text(costs, "train.py")
    assert re.match(r"train\.py ran for \S+ \w+, \S+ % of it in 8 steps of sessions; planning took \S+ \w+\.\n", text)
    assert re.search(r"test_program_report\.py:\d+: layer/Relu\n  8 runs, \S+ \S+ each; (2 of them were|one of them was) traced\n", text)
    assert re.search(r"\n  \S+ % of a step lie outside of kernels\n", text)
    assert re.search(r"\n +\S+ \S+ +\S+ % +1  MatMul +layer/product +tests/profiler/test_program_report\.py:\d+\n", text)


def test_the_timeline_holds_steps_with_ops_inside(costs):
    events = program_report.trace_events(costs, "train.py")
    assert json.loads(json.dumps(events)) == events
    steps = [e for e in events if e["name"] == "layer/Relu"]
    assert len(steps) == len(costs.kinds[0].traced)
    for op in (e for e in events if e.get("cat") == "op"):
        assert any(s["ts"] <= op["ts"] and op["ts"] + op["dur"] <= s["ts"] + s["dur"] + 1e-3 for s in steps)
    assert {e["name"] for e in events if e.get("cat") == "step"} == {"layer/Relu", "feeds", "fetches"}


def test_the_page_needs_nothing_else(costs):
    page = program_report.page(costs, "</script>.py")
    assert not re.search(r"""(?:src|href)=|https?://|@import|fetch\(""", page)
    (data,) = re.findall(r"const profile = (.*);\n", page)
    assert "</" not in data
    shown = json.loads(data)
    (kind,) = shown["kinds"]
    assert shown["program"] == "</script>.py" and kind["title"] == "layer/Relu" and kind["runs"] == 8
    assert [scope[0] for scope in kind["scopes"][2]] == ["layer"]
    assert {op[0] for op in kind["ops"]} >= {"layer/product"} and kind["threads"][0]["ran"]


def test_a_program_that_runs_nothing_is_told_so(tmp_path):
    recorder = Recorder(1, 0)
    with recorder.watching():
        pass
    text = program_report.write(Costs(recorder), "idle.py", tmp_path)
    assert "no session ran a step" in text and "There is nothing to show" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ops.txt", "profile.html", "timeline.json"]


@pytest.mark.parametrize(
    ("nanoseconds", "shown"),
    [(0, "0 ns"), (640, "640 ns"), (1500, "1.5 µs"), (999_800, "1 ms"), (12_345_678, "12.3 ms"), (4.56e12, "4560 s")],
)
def test_durations_have_three_digits(nanoseconds, shown):
    assert program_report.duration(nanoseconds) == shown
