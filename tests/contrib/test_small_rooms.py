"""Rooms of tf.contrib with a function or two each; values by hand or measured on TensorFlow 1.15.5."""

from __future__ import annotations

import concurrent.futures

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import solvers
from everflow.contrib.reduce_slice_ops import reduce_slice_max, reduce_slice_min, reduce_slice_prod, reduce_slice_sum
from running import run

IMAGE = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)


def test_images_are_read_between_pixels_with_gradients():
    data, warp = tf.constant(IMAGE), tf.constant(np.float32([[[0.5, 0.5], [-0.5, 1], [2.5, 2.5], [-1, 0], [1, 1], [2, 2], [3, 0]]]))
    found = tf.contrib.resampler.resampler(data, warp)
    assert found.shape.as_list() == [1, 7, 1] and run(found).ravel().tolist() == [2, 1.5, 2, 0, 4, 8, 0]
    to_data, to_warp = (run(g) for g in tf.gradients(found, [data, warp]))
    assert to_data[0, ..., 0].tolist() == [[0.25, 0.25, 0], [0.75, 1.25, 0], [0, 0, 1.25]]
    assert to_warp[0].tolist() == [[1, 3], [3, 1.5], [-4, -4], [0, 0], [1, 3], [-8, -8], [0, 0]]
    with pytest.raises(tf.errors.UnimplementedError, match="Only bilinear interpolation is currently supported"):
        run(tf.contrib.resampler.resampler(tf.zeros([1, 3, 3]), warp))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size of data and warp tensor must be the same"):
        run(tf.contrib.resampler.resampler(tf.zeros([2, 3, 3, 1]), warp))


def test_slices_are_reduced_even_empty_ones():
    x, slices = np.arange(12, dtype=np.float32).reshape(4, 3), [[0, 2], [1, 1], [2, 9]]
    assert run(reduce_slice_sum(x, slices, 0)).tolist() == [[3, 5, 7], [0, 0, 0], [15, 17, 19]]
    assert run(reduce_slice_prod(x, [0, 0, 4], 0)).tolist() == [[1, 1, 1], [0, 280, 880]]
    assert run(reduce_slice_max(x, slices, 0)).tolist() == [[3, 4, 5], [-np.inf] * 3, [9, 10, 11]]
    assert run(reduce_slice_min(x.astype(np.int32), [[1, 1]], 1)).tolist() == [[2**31 - 1]] * 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis must be in"):
        run(reduce_slice_sum(x, slices, 2))


@pytest.mark.parametrize(
    "sizes, wanted, shape, first",
    [
        ([2, 2, 4], [4, 4, None], (4, 4, 1), [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]),
        ([2, 2, 4], [3, 3, None], (3, 3, 1), [0, 2, 4, 1, 3, 5, 8, 10, 12]),
        ([2, 2, 12], [6, 4, None], (6, 4, 2), [0, 1, 6, 7, 12, 13, 18, 19, 2, 3, 8, 9]),
    ],
)
def test_channels_are_dealt_out_periodically(sizes, wanted, shape, first):
    found = run(tf.contrib.periodic_resample.periodic_resample(np.arange(np.prod(sizes)).reshape(sizes), wanted))
    assert found.shape == shape and found.ravel().tolist()[: len(first)] == first


def test_periodic_resampling_has_a_gradient_and_checks_sizes():
    x = tf.constant(np.arange(16.0).reshape(2, 2, 4))
    y = tf.contrib.periodic_resample.periodic_resample(x, [3, 3, None])
    assert run(tf.gradients(y * y, x)[0]).tolist() == [[[0, 2, 4, 6], [8, 10, 0, 0]], [[16, 0, 20, 0], [24, 0, 0, 0]]]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="at least as large as size of input tensor"):
        run(tf.contrib.periodic_resample.periodic_resample(x, [1, None, 4]))


def test_components_are_numbered_over_all_images():
    images = np.array([[[1, 0, 1], [1, 0, 1], [0, 0, 1]], [[2, 2, 3], [0, 3, 3], [1, 0, 0]]])
    found = run(tf.contrib.image.connected_components(images)).tolist()
    assert found == [[[1, 0, 2], [1, 0, 2], [0, 0, 2]], [[3, 3, 4], [0, 4, 4], [5, 0, 0]]]
    assert run(tf.contrib.image.connected_components(np.array([[b"a", b"", b"a"], [b"b", b"b", b"a"]]))).tolist() == [[1, 0, 2], [3, 3, 2]]
    snake = np.zeros((9, 9), bool)
    snake[::2] = True
    snake[1::4, -1] = snake[3::4, 0] = True
    assert run(tf.contrib.image.connected_components(snake)).tolist() == snake.astype(int).tolist()
    with pytest.raises(TypeError, match="images should have rank 2"):
        tf.contrib.image.connected_components(np.zeros(3))


def test_rows_and_columns_are_matched_by_distance():
    distances = np.float32([[0.5, 0.8, 0.1, 0.1], [0.3, 0.5, 0.3, 0.1]])
    match = tf.contrib.image.bipartite_match
    assert [r.tolist() for r in run(match(distances, 2.0))] == [[2, 3], [-1, -1, 0, 1]]
    assert [r.tolist() for r in run(match(distances, 2.0, 1))] == [[2, -1], [-1, -1, 0, -1]]
    assert [r.tolist() for r in run(match(distances.T, 1.0))] == [[1, -1, -1, -1], [-1, 0]]


def test_sparsemax_takes_logits_of_unknown_rank(session):
    logits = tf.placeholder(tf.float32)
    assert session.run(tf.contrib.sparsemax.sparsemax(logits), {logits: [[2.0, 0.0]]}).tolist() == [[1, 0]]


def test_sparsemax_is_the_projection_onto_the_simplex():
    found = run(tf.contrib.sparsemax.sparsemax(tf.constant([[1.0, 0.9, -1], [3, 0, 0], [0, 0, 0]])))
    np.testing.assert_allclose(found, [[0.55, 0.45, 0], [1, 0, 0], [1 / 3] * 3], rtol=1e-6)
    low = run(tf.contrib.sparsemax.sparsemax(tf.constant([[0, -np.inf, 0], [0, np.inf, 0]], tf.float32)))
    assert low[0].tolist() == [0.5, 0, 0.5] and np.isnan(low[1]).all()
    logits, labels = tf.constant([[1.0, 0.9, -1]]), tf.constant([[0.0, 1, 0]])
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, tf.contrib.sparsemax.sparsemax(logits), labels)
    # The gradient of the loss is what the probabilities are away from the labels.
    np.testing.assert_allclose(run(tf.gradients(loss, logits)[0]), [[0.55, -0.55, 0]], atol=1e-6)


def test_differential_equations_are_solved_to_tolerance():
    t = np.linspace(0, 2, 5)
    found, info = tf.contrib.integrate.odeint(lambda y, t: -y, tf.constant([1.0, 2.0], tf.float64), t, full_output=True)
    np.testing.assert_allclose(run(found), np.exp(-t)[:, None] * [1, 2], rtol=1e-5)
    assert run(info["num_func_evals"]) > 6
    fixed = tf.contrib.integrate.odeint_fixed(lambda y, t: -y, tf.constant(1.0, tf.float64), np.linspace(0, 2, 41))
    np.testing.assert_allclose(run(fixed), np.exp(-np.linspace(0, 2, 41)), rtol=1e-6)
    slope = lambda y, t: 2 * t * tf.ones_like(y)
    coarse = tf.contrib.integrate.odeint_fixed(slope, tf.constant(0.0, tf.float64), [0.0, 1.0, 2.0], dt=0.25, method="midpoint")
    np.testing.assert_allclose(run(coarse), [0, 1, 4], atol=1e-9)
    with pytest.raises(ValueError, match="invalid method: 'euler'"):
        tf.contrib.integrate.odeint(lambda y, t: y, 1.0, t, method="euler")
    with pytest.raises(TypeError, match="`y0` must have a floating point"):
        tf.contrib.integrate.odeint(lambda y, t: y, 1, t)


def test_linear_equations_and_least_squares_are_solved_iteratively():
    rng = np.random.RandomState(0)
    a = rng.randn(6, 4)
    normal, b = a.T @ a, rng.randn(4)
    x = run(solvers.conjugate_gradient(solvers.create_operator(tf.constant(normal)), tf.constant(b), tol=1e-10, max_iter=50).x)
    np.testing.assert_allclose(x, np.linalg.solve(normal, b), rtol=1e-6)
    rhs = rng.randn(6)
    x = run(solvers.cgls(solvers.create_operator(tf.constant(a)), tf.constant(rhs), tol=1e-10, max_iter=50).x)
    np.testing.assert_allclose(x, np.linalg.lstsq(a, rhs, rcond=None)[0], rtol=1e-6)
    form = solvers.lanczos_bidiag(solvers.create_operator(tf.constant(a)), 3, starting_vector=tf.constant(rhs))
    left, right = run([tf.matmul(tf.constant(a), form.v), solvers.bidiag_matmul(form.u, form.alpha, form.beta)])
    np.testing.assert_allclose(left, right, atol=1e-9)


def test_ops_and_variables_are_copied_to_other_graphs():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        v = tf.Variable([2.0], name="v")
        product = tf.multiply(v, 3.0, name="product")
    copied = tf.contrib.copy_graph.copy_variable_to_graph(v, second)
    result = tf.contrib.copy_graph.copy_op_to_graph(product, second, [copied])
    with tf.Session(graph=second) as session:
        session.run(copied.initializer)
        assert session.run(result).tolist() == [6]
    assert tf.contrib.copy_graph.get_copied_op(product, second) is result
    with pytest.raises(TypeError, match="is not a Variable"):
        tf.contrib.copy_graph.copy_variable_to_graph(3, second)


def test_old_summaries_have_their_tags():
    def tags(summary):
        return [value.tag for value in tf.Summary.FromString(run(summary)).value]

    deprecated = tf.contrib.deprecated
    first = deprecated.scalar_summary(["a b", "c"], [1.0, 2.0])
    assert tags(first) == ["a b", "c"]
    second = deprecated.histogram_summary("h", [1.0, 2.0])
    assert tags(deprecated.merge_summary([first, second])) == ["a b", "c", "h"]
    assert tags(deprecated.merge_all_summaries()) == ["a b", "c", "h"]
    assert tags(deprecated.image_summary("i", np.zeros([1, 2, 2, 3], np.float32))) == ["i/image/0"]
    assert tags(deprecated.audio_summary("s", np.zeros([1, 2, 1], np.float32), 8000)) == ["s/audio/0"]


def test_steps_are_summed_up_in_tables(session):
    product = tf.matmul(tf.random_normal([8, 8]), tf.ones([8, 8]), name="product")
    summarizer = tf.contrib.stat_summarizer.NewStatSummarizer(session.graph.as_graph_def().SerializeToString())
    for _ in range(3):
        metadata = tf.RunMetadata()
        session.run(product, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        summarizer.ProcessStepStatsStr(metadata.step_stats.SerializeToString())
    shown = summarizer.GetOutputString()
    assert "count=3" in shown and "Top by Computation Time" in shown and "100.000%" in shown
    assert any("MatMul" in line and line.endswith("product") for line in shown.splitlines())


def test_grpc_services_are_called_by_ops():
    grpc = pytest.importorskip("grpc")

    class Echo(grpc.GenericRpcHandler):
        def service(self, details):
            if details.method == "/test.Echo/Twice":
                return grpc.unary_unary_rpc_method_handler(lambda request, context: request * 2)
            return None

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), handlers=(Echo(),))
    address = f"localhost:{server.add_insecure_port('localhost:0')}"
    server.start()
    try:
        assert run(tf.contrib.rpc.rpc(address, "/test.Echo/Twice", [b"a", b"bc"])).tolist() == [b"aa", b"bcbc"]
        replies, codes, messages = run(tf.contrib.rpc.try_rpc(address, ["/test.Echo/Twice", "/test.Echo/No"], b"x"))
        assert replies.tolist() == [b"xx", b""] and codes.tolist() == [0, 12] and messages[0] == b""
        with pytest.raises(tf.errors.UnimplementedError):
            run(tf.contrib.rpc.rpc(address, "/test.Echo/No", b"x"))
    finally:
        server.stop(None)


def test_the_example_of_an_op_is_there():
    assert run(tf.user_ops.my_fact()) == b"0! == 1"


def test_borrowed_names_are_found():
    assert list(tf.contrib.graph_editor.select.iteritems({1: 2})) == [(1, 2)]
    assert tf.contrib.slim.division.getMandatoryRelease()[0] == 3
    projector = tf.contrib.tensorboard.plugins.projector
    assert projector.projector_config_pb2.EmbeddingInfo is projector.EmbeddingInfo
    tf.square(3.0)
    graph_def = tf.get_default_graph().as_graph_def()
    assert sorted(tf.contrib.util.ops_used_by_graph_def(graph_def)) == ["Const", "Square"]
    assert [op.name for op in tf.contrib.util.stripped_op_list_for_graph(graph_def).op] == ["Const", "Square"]


def test_gradients_are_clipped_to_what_they_usually_are(session):
    """Numbers of TensorFlow 1.15.5."""
    x = tf.placeholder(tf.float32, [2])
    step = tf.train.create_global_step()
    clip = tf.contrib.slim.adaptive_clipping_fn(static_max_norm=1.0, report_summary=True, global_step=step)
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([[3.0], [4.0]])
    (clipped, same), (sparse, _), (nothing, _) = clip([(x, v), (slices, w), (None, w)])
    session.run(tf.global_variables_initializer())
    found = []
    for k in range(4):
        found.append(session.run(clipped, {x: [1.0 + k * k * 5, 2.0]}))
        session.run(tf.assign_add(step, 1))
    np.testing.assert_allclose(
        found, [[0.40824828, 0.81649655], [0.9370426, 0.31234753], [0.99437886, 0.09470275], [0.9988206, 0.04342698]], rtol=1e-6
    )
    assert same is v and isinstance(sparse, tf.IndexedSlices) and nothing is None
    assert [v.op.name for v in tf.global_variables() if "Norm" in v.name] == ["AdaptiveMaxNorm/mean", "AdaptiveMaxNorm/sq_mean"]
    assert len(tf.get_collection("summaries")) == 1


def test_norms_far_above_the_usual_become_usual(session):
    x = tf.placeholder(tf.float32, [1])
    ((clipped, _),) = tf.contrib.slim.adaptive_clipping_fn(std_factor=0.5, decay=0.5)([(x, tf.Variable([0.0]))])
    session.run(tf.global_variables_initializer())
    found = [session.run(clipped, {x: [value]})[0] for value in (1.0, 1.0, 1.0, 1e6)]
    assert found == pytest.approx([1, 1, 1, 1e3], rel=1e-3)


def test_experimental_functions_say_so(caplog):
    @tf.contrib.slim.experimental
    def add_one(x):
        """Adds one.

        To x.
        """
        return x + 1

    with caplog.at_level("WARNING", "tensorflow"):
        assert add_one(2) == 3
    assert "add_one (from tests" in caplog.text or "add_one (from test_small_rooms)" in caplog.text
    assert "is experimental and may change or be removed at any time, and without warning." in caplog.text
    assert add_one.__doc__.startswith("Adds one. (experimental)\n")


def test_columns_of_data_frames_compute_themselves():
    class Series:
        def build(self, cache):
            return len(cache)

        def required_base_features(self):
            return {"a": 1}

    column = tf.contrib.slim.DataFrameColumn("c", Series())
    assert (column.name, column.key, column.config, column._fields) == ("c", "c", {"a": 1}, ("column_name", "series"))
    cache = {"other": 5}
    column.insert_transformed_feature(cache)
    column.insert_transformed_feature(cache)
    assert cache == {"other": 5, column: 1}


def test_slim_has_the_layer_of_feature_columns(session):
    layer = tf.contrib.slim.InputLayer([tf.feature_column.numeric_column("a"), tf.feature_column.numeric_column("b")])
    assert session.run(layer({"a": [[1.0]], "b": [[2.0]]})).tolist() == [[1, 2]]


def test_libraries_are_looked_for_beside_the_module_that_asks(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="tests/contrib/nothing.so"):
        tf.contrib.util.loader.load_op_library("nothing.so")


def remote_graph():
    with tf.Graph().as_default() as graph:
        a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
        tf.add(a, b, name="sum")
        tf.cast(a * b, tf.int32, name="product")
    return graph.as_graph_def()


def test_remote_graphs_run_here(session):
    x = tf.placeholder(tf.float32, [2])
    total, product = tf.contrib.remote_fused_graph.remote_fused_graph_execute(
        [x, tf.constant([3.0, 4.0])], [tf.float32, tf.int32], remote_graph(), ["a", "b"], ["sum", "product"], "somewhere", b""
    )
    assert (total.dtype, product.dtype, total.op.type) == (tf.float32, tf.int32, "RemoteFusedGraphExecute")
    for scale in (1, 10):
        found = session.run([total, product], {x: [1.0 * scale, 2.0 * scale]})
        assert [value.tolist() for value in found] == [[scale + 3, 2 * scale + 4], [3 * scale, 8 * scale]]


def test_remote_graphs_must_take_and_give_what_is_asked_for(session):
    (found,) = tf.contrib.remote_fused_graph.remote_fused_graph_execute(
        [1.0], [tf.float32], remote_graph(), ["a", "b"], ["sum"], "e", b"", [(tf.float32, [2])], [(tf.float32, [2])]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 inputs and 1 outputs was given 1 tensors"):
        session.run(found)
