"""Traces of what a piece of a program runs, by tf.compat.v2.summary.trace_on."""

import os

import pytest

import everflow as tf

summary = tf.compat.v2.summary


@tf.function
def square(x):
    return tf.matmul(x, x)


def exported(tmp_path, function, **kwargs):
    """The RunMetadata that a trace of a call writes, and the plugin that they are for."""
    writer = summary.create_file_writer(str(tmp_path))
    summary.trace_on(**kwargs)
    function(tf.ones((2, 2)))
    with writer.as_default():
        summary.trace_export("call", step=3, profiler_outdir=str(tmp_path))
    writer.close()
    (name,) = [n for n in os.listdir(tmp_path) if n.endswith(".v2")]
    _, event = tf.train.summary_iterator(os.path.join(tmp_path, name))
    (value,) = event.summary.value
    assert (event.step, value.tag) == (3, "call")
    return value.metadata.plugin_data.plugin_name, tf.RunMetadata.FromString(value.tensor.string_val[0])


def test_graphs_of_functions_that_run_for_the_first_time(eager, tmp_path):
    function = tf.function(lambda x: square(x) + 1.0)
    plugin, found = exported(tmp_path / "first", function)
    assert plugin == "graph_run_metadata_graph"
    (graphs,) = found.function_graphs
    nodes = {node.op for node in graphs.pre_optimization_graph.node}
    assert nodes == {"_Arg", "PartitionedCall", "Const", "AddV2", "Identity", "_Retval"}
    assert graphs.pre_optimization_graph.node[-1].name == "identity_RetVal"
    assert "AddV2" in {node.op for node in graphs.post_optimization_graph.node}
    assert not exported(tmp_path / "second", function)[1].function_graphs


def test_profiles(eager, tmp_path):
    plugin, _ = exported(tmp_path, tf.function(lambda x: x + 2.0), profiler=True)
    assert plugin == "graph_run_metadata"
    (session,) = os.listdir(tmp_path / "plugins" / "profile")
    assert os.listdir(tmp_path / "plugins" / "profile" / session) == ["local.trace"]


def test_what_is_refused(eager, tmp_path):
    with pytest.raises(ValueError, match="Must enable trace before export."):
        summary.trace_export("call", step=0)
    summary.trace_on(profiler=True)
    with pytest.raises(ValueError, match="Required profiler_outdir is not specified"):
        summary.trace_export("call", step=0)
    summary.trace_off()
    summary.trace_off()
    with tf.Graph().as_default():
        summary.trace_on()
        summary.trace_export("call", step=0)
