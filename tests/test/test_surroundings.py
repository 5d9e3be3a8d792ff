"""Stubs, layouts and benchmarks."""

import os

import pytest

import everflow as tf
from everflow.proto import test_log_pb2
from everflow.test import benchmark, layouts, stubs


class Target:
    value = 1

    @staticmethod
    def static():
        return "real"


def test_stubs_are_put_back():
    with stubs.StubOutForTesting() as stub:
        stub.Set(Target, "value", 2)
        stub.Set(Target, "value", 3)
        stub.SmartSet(Target, "static", lambda: "stub")
        assert (Target.value, Target.static()) == (3, "stub")
        with pytest.raises(AttributeError, match="Attribute not found"):
            stub.SmartSet(Target, "missing", 1)
    assert (Target.value, Target().static()) == (1, "real")


def test_layouts():
    assert layouts.nhwc_to_nchw([1, 2, 3, 4]) == [1, 4, 2, 3]
    assert layouts.nchw_to_nhwc(layouts.nhwc_to_nchw([1, 2, 3, 4, 5])) == [1, 2, 3, 4, 5]
    assert layouts.nhwc_to_nchw_vect_c([1, 2, 3, 8]) == [1, 2, 2, 3, 4]
    assert layouts.nchw_vect_c_to_nhwc([1, 2, 2, 3, 4]) == [1, 2, 3, 8]
    with tf.Graph().as_default():
        assert layouts.nhwc_to_nchw(tf.zeros([1, 2, 3, 4])).shape.as_list() == [1, 4, 2, 3]
    with pytest.raises(ValueError, match="evenly divisible by 4"):
        layouts.nhwc_to_nchw_vect_c([1, 2, 3, 5])


def test_benchmarks_report_under_their_own_name(tmp_path, monkeypatch):
    class Some(tf.test.Benchmark):
        def benchmark_it(self):
            self.report_benchmark(iters=3, wall_time=0.5, extras={"size": 2, "kind": "x"})

    assert Some in benchmark.BENCHMARKS
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}{os.sep}r_")
    benchmark.run_benchmarks("Some.benchmark_it")
    entries = test_log_pb2.BenchmarkEntries.FromString((tmp_path / "r_Some.benchmark_it").read_bytes())
    (entry,) = entries.entry
    assert (entry.name, entry.iters, entry.wall_time) == ("Some.benchmark_it", 3, 0.5)
    assert (entry.extras["size"].double_value, entry.extras["kind"].string_value) == (2, "x")
    benchmark.BENCHMARKS.discard(Some)


def test_benchmarks_time_ops():
    class Other(tf.test.Benchmark):
        def benchmark_it(self):
            with tf.Session() as session:
                return self.run_op_benchmark(session, tf.constant(1.0) + 1.0, min_iters=3)

    values = Other().benchmark_it()
    assert values["iters"] == 3 and 0 < values["wall_time"] < 1
    benchmark.BENCHMARKS.discard(Other)
