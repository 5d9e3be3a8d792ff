"""tf.profiler: expected texts and counts were measured on TensorFlow 1.15.5."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import everflow as tf
from everflow.proto import profile_pb2, tfprof_log_pb2

Builder = tf.profiler.ProfileOptionBuilder


def model():
    x = tf.placeholder(tf.float32, [8, 32, 32, 3], name="x")
    with tf.variable_scope("net"):
        h = tf.layers.conv2d(x, 16, 3, padding="same", name="c1", activation=tf.nn.relu)
        h = tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2))
        y = tf.layers.dense(h, 10, name="fc")
    return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))


def measured():
    """A small graph and what a run of it could have been."""
    v = tf.Variable(np.ones([3, 4], np.float32), name="v")
    with tf.name_scope("sc"):
        tf.identity(tf.matmul(v, tf.ones([4, 5]), name="mm"), name="out")
    metadata = tf.RunMetadata()
    cpu = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")

    def run(device, name, start, micros, size=0):
        stats = device.node_stats.add(node_name=name, all_start_micros=start, op_end_rel_micros=micros)
        if size:
            stats.memory.add(allocator_name="cpu", total_bytes=size, peak_bytes=size - 1, live_bytes=size - 2)
        stats.output.add().tensor_description.allocation_description.allocated_bytes = 10

    run(cpu, "v", 1000, 3, 48)
    run(cpu, "sc/mm", 1010, 2000000, 3 * 10**9)
    run(cpu, "sc/mm", 4001010, 2000, 30)
    run(cpu, "sc/out", 9001010, 0)
    run(metadata.step_stats.dev_stats.add(device="/device:GPU:0/stream:all"), "sc/mm:MatMul", 1020, 7)
    return metadata


def text(tmp_path, cmd="scope", run_meta=None, **options):
    file = tmp_path / "report"
    wanted = {**Builder.time_and_memory(0, 0), **options, "output": f"file:outfile={file}"}
    tf.profiler.profile(tf.get_default_graph(), run_meta=run_meta, cmd=cmd, options=wanted)
    return file.read_text().partition("Profile:\n")[2]


def test_parameters_are_counted_by_name(capsys):
    model()
    found = tf.profiler.profile(tf.get_default_graph(), options=Builder.trainable_variables_parameter())
    assert found.total_parameters == 41418
    assert found.children[0].children[0].children[1].name == "net/c1/kernel"
    shown = capsys.readouterr().out
    assert shown.startswith(
        "Parsing Inputs...\n\n=========================Options=============================\n-max_depth                  10000\n"
    )
    assert "-account_type_regexes       _trainable_variables\n" in shown
    assert (
        "\nProfile:\nnode name | # parameters\n_TFProfRoot (--/41.42k params)\n  net (--/41.42k params)\n    net/c1 (--/448 params)\n"
        "      net/c1/bias (16, 16/16 params)\n      net/c1/kernel (3x3x3x16, 432/432 params)\n    net/fc (--/40.97k params)\n"
        "      net/fc/bias (10, 10/10 params)\n      net/fc/kernel (4096x10, 40.96k/40.96k params)\n\n"
        "======================End of Report==========================\n"
    ) in shown


def test_operations_are_counted_by_kind(tmp_path):
    model()
    shown = text(tmp_path, "op", **{k: v for k, v in Builder.float_operation().items() if k != "output"}).splitlines()
    assert shown[1] == "Conv2D                   7.08m float_ops (100.00%, 29.69%)"
    assert shown[4] == "MatMul                   1.97m float_ops (10.93%, 8.25%)"
    assert "BiasAddGrad              131.13k float_ops (1.45%, 0.55%)" in shown
    assert shown[-1] == "Sub                          2 float_ops (0.00%, 0.00%)"


@pytest.mark.parametrize(
    "make, flops",
    [
        (lambda x: tf.rsqrt(x), 60),
        (lambda x: tf.nn.softmax(x), 150),
        (lambda x: tf.nn.l2_loss(x), 89),
        (lambda x: tf.squared_difference(x, tf.ones([3, 1])), 60),
        (lambda x: tf.add_n([x, x, x]), 60),
        (lambda x: tf.reduce_mean(x, 1), 30),
        (lambda x: tf.reduce_sum(x, 1), 20),
        (lambda x: tf.argmax(x, 2), 24),
        (lambda x: tf.nn.conv2d(tf.ones([2, 9, 8, 3]), tf.ones([3, 2, 3, 5]), [1, 2, 1, 1], "SAME"), 14400),
        (lambda x: tf.nn.conv3d(tf.ones([1, 4, 5, 6, 2]), tf.ones([2, 3, 2, 2, 7]), [1] * 5, "SAME"), 40320),
        (lambda x: tf.nn.depthwise_conv2d_native(tf.ones([2, 9, 8, 3]), tf.ones([3, 2, 3, 4]), [1] * 4, "SAME"), 20736),
        (lambda x: tf.nn.avg_pool(tf.ones([2, 9, 8, 3]), [1, 3, 2, 1], [1, 2, 2, 1], "SAME"), 720),
        (lambda x: tf.raw_ops.BatchMatMul(x=tf.ones([6, 3, 5]), y=tf.ones([6, 5, 2])), 360),
        (lambda x: tf.matmul(tf.ones([7, 4]), tf.ones([7, 4]), transpose_a=True), 224),
    ],
)
def test_flops_are_tensorflows(make, flops):
    name = make(tf.ones([2, 3, 5])).op.name
    found = tf.profiler.profile(tf.get_default_graph(), options=Builder(Builder.float_operation()).with_empty_output().build())
    assert {node.name: node.float_ops for node in every(found)}[name] == flops


def every(node):
    yield node
    for child in node.children:
        yield from every(child)


def test_gradients_of_convolutions_and_pools_are_counted():
    image, filters = tf.ones([2, 9, 8, 3]), tf.ones([3, 2, 3, 5])
    y = tf.nn.conv2d(image, filters, [1, 2, 1, 1], "SAME", name="c")
    z = tf.nn.max_pool(image, [1, 3, 2, 1], [1, 2, 2, 1], "SAME", name="m")
    tf.gradients([y, z], [image, filters])
    found = tf.profiler.profile(tf.get_default_graph(), options=Builder(Builder.float_operation()).with_empty_output().build())
    counts = {node.name: node.float_ops for node in every(found)}
    assert counts["gradients/c_grad/Conv2DBackpropInput"] == counts["gradients/c_grad/Conv2DBackpropFilter"] == 12960
    assert counts["gradients/m_grad/MaxPoolGrad"] == 840


def test_ops_of_unknown_shape_have_no_count(capsys):
    tf.matmul(tf.placeholder(tf.float32, [None, 4]), tf.ones([4, 5]))
    tf.square(tf.placeholder(tf.float32, [None]))
    found = tf.profiler.profile(tf.get_default_graph(), options=Builder.float_operation())
    assert found.total_float_ops == 0
    assert "1 ops no flops stats due to incomplete shapes." in capsys.readouterr().err


def test_times_and_memory_come_from_run_metadata(tmp_path):
    metadata = measured()
    select = ["micros", "bytes", "peak_bytes", "residual_bytes", "output_bytes", "occurrence", "device", "op_types", "input_shapes"]
    lines = text(tmp_path, run_meta=metadata, select=select).splitlines()
    assert lines[0] == (
        "node name | requested bytes | peak bytes | residual bytes | output bytes | total execution time | accelerator execution time"
        " | cpu execution time | assigned devices | op types | op count (run|defined) | input shapes"
    )
    device = "/job:localhost/replica:0/task:0/device:cpu:0"
    assert lines[3] == (
        "    sc/mm (3000.00MB/3000.00MB, 3000.00MB/3000.00MB, 3000.00MB/3000.00MB, 20B/20B, 2.00sec/2.00sec, 7us/7us, 2.00sec/2.00sec, "
        f"{device}, {device}|MatMul, 2/2|1/1, 0:3x4|1:4x5)"
    )
    assert lines[4].startswith("    sc/out (0B/0B, 0B/0B, 0B/0B, 10B/10B, 1us/1us, 0us/0us, 1us/1us, ")


def test_the_graph_view_hangs_inputs_below_ops(tmp_path):
    lines = text(tmp_path, "graph", measured(), select=["params"]).splitlines()
    assert lines[1:6] == [
        "_TFProfRoot (--/12 params)",
        "  sc/out (0/12 params)",
        "    sc/mm (0/12 params)",
        "      v/read (0/12 params)",
        "        v (3x4, 12/12 params)",
    ]
    only_variables = text(tmp_path, "graph", select=["params"], account_type_regexes=["_trainable_variables"])
    assert only_variables.splitlines()[1:] == ["_TFProfRoot (--/12 params)", "  v (3x4, 12/12 params)"]


def test_the_op_view_groups_by_input_shapes(tmp_path):
    shown = text(tmp_path, "op", measured(), select=["micros", "occurrence", "input_shapes"])
    assert "\n\ninput_type: 0:3x4,\t1:4x5\t(run*2|defined*1)\texec_time: 2.00sec\n\n" in shown
    assert ",        2|1\n" in shown


def test_the_code_view_follows_calls(tmp_path):
    def outer():
        def inner():
            return tf.square(x, name="squared")

        return inner()

    x = tf.ones([3])
    tf.gradients(outer(), x)
    shown = text(tmp_path, "code", select=["float_ops"], show_name_regexes=[r"test_profiles\.py.*"])
    lines = [line.partition(":")[0] + line[line.rindex(":") :] for line in shown.splitlines()[2:]]
    assert "      test_profiles.py:inner (0/3 flops)" in lines
    assert any(line.endswith("inner (gradient) (0/3 flops)") or line.endswith("inner (gradient) (0/6 flops)") for line in lines)


def test_names_can_be_hidden_trimmed_started_at_and_cut_by_depth(tmp_path):
    metadata = measured()

    def names(**options):
        shown = text(tmp_path, "scope", metadata, select=["params"], **options)
        return [line.split(" (")[0] for line in shown.splitlines()[1:]]

    assert names(hide_name_regexes=["sc"])[1:3] == ["  sc/mm", "  v"]
    assert names(trim_name_regexes=["sc"], start_name_regexes=["s.*"]) == ["_TFProfRoot", "  sc"]
    assert names(max_depth=1) == ["_TFProfRoot"]
    assert names(max_depth=2) == ["_TFProfRoot", "  v", "  sc"]
    assert names(show_name_regexes=["mm"]) == ["_TFProfRoot"]
    assert names(account_type_regexes=["VariableV2", "MatMul"]) == ["_TFProfRoot", "  sc", "    sc/mm", "  v"]


def test_real_runs_are_traced_with_memory(session):
    a = tf.random_normal([100, 100])
    c = tf.matmul(a, a, name="product")
    metadata = tf.RunMetadata()
    session.run(c, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    found = tf.profiler.profile(session.graph, run_meta=metadata, options=Builder(Builder.time_and_memory()).with_empty_output().build())
    product = {node.name: node for node in every(found)}["product"]
    assert product.exec_micros > 0 and product.run_count == 1
    assert product.requested_bytes == product.peak_bytes == product.residual_bytes == product.output_bytes == 40000


def test_a_profiler_takes_the_mean_of_steps_and_serializes(tmp_path):
    metadata = measured()
    profiler = tf.profiler.Profiler(tf.get_default_graph())
    profiler.add_step(0, metadata)
    metadata.step_stats.dev_stats[0].node_stats[0].op_end_rel_micros = 13
    profiler.add_step(4, metadata)
    options = Builder(Builder.time_and_memory(0, 0)).with_empty_output()
    assert {n.name: n.exec_micros for n in every(profiler.profile_name_scope(options.build()))}["v"] == 8
    assert {n.name: n.exec_micros for n in every(profiler.profile_name_scope(options.with_step(4).build()))}["v"] == 13
    saved = tfprof_log_pb2.ProfileProto.FromString(profiler.serialize_to_string())
    assert list(saved.steps) == [0, 4] and {n.name for n in saved.nodes.values()} >= {"v", "sc/mm"}
    file = tmp_path / "line"
    profiler.profile_graph(Builder(Builder.time_and_memory(0, 0)).with_step(0).with_timeline_output(str(file)).build())
    events = json.loads((tmp_path / "line_0").read_text())["traceEvents"]
    assert {"args": {"name": "v"}, "cat": "Op", "dur": 3, "name": "v", "ph": "X", "ts": 1000, "pid": 0, "tid": 0} in events
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} == {
        "Op scheduling threads: /job:localhost/replica:0/task:0/device:cpu:0",
        "Op execution threads: /device:gpu:0/stream:all",
    }


def test_code_is_written_for_pprof(tmp_path, capsys):
    metadata, file = measured(), tmp_path / "pprof"
    options = Builder(Builder.time_and_memory()).select(["micros"]).with_pprof_output(str(file))
    tf.profiler.profile(run_meta=metadata, cmd="code", options=options.build())
    profile = profile_pb2.Profile.FromString(gzip.decompress(file.read_bytes()))
    strings = profile.string_table
    times = {strings[s.label[0].str]: s.value[1] for s in profile.sample}
    assert times["sc/mm"] == 2002007 and [strings[t.unit] for t in profile.sample_type] == ["count", "microseconds"]
    assert "test_profiles:measured" in strings
    tf.profiler.profile(run_meta=metadata, cmd="scope", options=options.build())
    assert "Only 'code' view supports pprof output now." in capsys.readouterr().err
    tf.profiler.profile(run_meta=metadata, cmd="code", options=options.select(["device"]).build())
    assert "pprof doesn't support -select=device" in capsys.readouterr().err


def test_advice_names_what_is_expensive(capsys):
    advice = tf.profiler.advise(tf.get_default_graph(), run_meta=measured())
    assert set(advice.checkers) == {"ExpensiveOperationChecker", "OperationChecker", "AcceleratorUtilizationChecker"}
    reports = advice.checkers["ExpensiveOperationChecker"].reports
    assert reports[0].splitlines()[0] == "top 1 operation type: MatMul, cpu: 2.00sec, accelerator: 7us, total: 2.00sec (100.00%)"
    assert reports[1] == "top 1 graph node: sc, cpu: 0us, accelerator: 0us, total: 0us"
    assert "\nExpensiveOperationChecker:\ntop 1 operation type: MatMul" in capsys.readouterr().out


def test_an_op_log_is_written_with_what_a_program_adds(tmp_path):
    tf.square(tf.ones([3]), name="squared")
    tf.get_variable("w", [2])
    own = tf.profiler.OpLogProto()
    own.log_entries.add(name="squared", types=["mine"], float_ops=99)
    tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path), op_log=own)
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {e.name: e for e in log.log_entries}
    assert entries["squared"].float_ops == 99 and list(entries["squared"].types) == ["mine"]
    assert list(entries["w"].types) == ["_trainable_variables"]
    assert log.id_to_string[entries["squared"].code_def.traces[-1].file_id].endswith(".py")


def test_what_is_no_view_or_output_is_refused(capsys):
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: zzz"):
        tf.profiler.profile(cmd="zzz")
    tf.ones([3])
    found = tf.profiler.profile(options={**Builder.float_operation(), "output": "bogus"})
    assert not found.ListFields() and "bogus" in capsys.readouterr().err


def test_options_are_built_from_what_others_hold():
    options = (
        Builder(Builder.time_and_memory(min_micros=5)).with_max_depth(3).order_by("name").with_node_names(hide_name_regexes=["a"]).build()
    )
    assert (options["max_depth"], options["min_micros"], options["order_by"], options["hide_name_regexes"]) == (3, 5, "name", ["a"])
    assert Builder().build()["max_depth"] == 100 and Builder().with_file_output("/x").build()["output"] == "file:outfile=/x"
    assert tf.contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY["order_by"] == "name"


def test_a_context_profiles_the_steps_of_sessions(tmp_path, session):
    x = tf.matmul(tf.random_normal([4, 4]), tf.ones([4, 4]))
    with tf.contrib.tfprof.ProfileContext(str(tmp_path), trace_steps=[], dump_steps=[]) as context:
        context.add_auto_profiling("op", Builder(Builder.time_and_memory()).with_empty_output().build(), [1])
        for _ in range(3):
            session.run(x)
        assert not list(tmp_path.iterdir())
        context.dump_next_step()
        session.run(x)
    assert [f.name for f in tmp_path.iterdir()] == ["profile_3"]
    assert set(context.get_profiles("op")) == {1}
    with pytest.raises(ValueError, match="No autoprofiler for command: scope"):
        context.get_profiles("scope")
