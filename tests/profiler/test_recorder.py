"""What `everflow profile` records: steps that are timed and traced, with what runs inside of them."""

import inspect
import threading

import numpy as np
import pytest

import everflow as tf
from everflow.profiler.costs import KERNELS, PARTS, Costs
from everflow.profiler.recorder import Recorder, Timed
from everflow.runtime import codegen
from everflow.runtime.runner import Runner
from everflow.runtime.session import BaseSession


def recorded(run, steps=3, warm_up=2):
    recorder = Recorder(steps, warm_up)
    with recorder.watching():
        run()
    return recorder


def costs_of(run, **how):
    return Costs(recorded(run, **how))


def ops_of(steps):
    return {cost.op.name: cost for cost in steps.costs}


def here():
    return inspect.currentframe().f_back.f_lineno


def test_of_each_kind_of_step_some_are_traced_after_the_first_ones(session):
    x, y = tf.constant([1.0]) + tf.ones([1]), tf.zeros([2]) + tf.ones([2])
    recorder = recorded(lambda: [session.run(x) for _ in range(20)] + [session.run(y)])
    often, once = recorder.kinds.values()
    assert (often.runs, len(often.traced), once.runs, len(once.traced)) == (20, 3, 1, 0)
    assert often.first is not None and once.first is not None and len(often.times) == 20 - 2 - 3


def test_results_are_those_of_plain_runs(session):
    x = tf.placeholder(tf.float32, [None, 3])
    y, z = tf.split(tf.matmul(x, x, transpose_a=True) + 1.0, [1, 2])
    fed = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = session.run([y, {"z": z}], {x: fed})
    found = []
    recorded(lambda: found.extend(session.run([y, {"z": z}, x], {x: fed}) for _ in range(8)), warm_up=0)
    for a, b, _ in found:
        np.testing.assert_array_equal(a, expected[0])
        np.testing.assert_array_equal(b["z"], expected[1]["z"])


def test_ops_stand_at_the_lines_that_made_them_and_gradients_at_those_of_their_ops(session):
    x, w = tf.placeholder(tf.float32, [4, 4]), tf.Variable(tf.ones([4, 4]))
    y, line = tf.matmul(x, w, name="product"), here()
    gradient = tf.gradients(y, [w])[0]
    session.run(tf.global_variables_initializer())
    costs = costs_of(lambda: [session.run([y, gradient], {x: np.ones([4, 4])}) for _ in range(8)])
    (steps,) = costs.kinds
    ops = ops_of(steps)
    assert ops["product"].op.place.line == line and ops["product"].op.dims == "4×4"
    assert ops["gradients/product_grad/MatMul_1"].op.place.line == line
    assert steps.place.file == __file__ and steps.title == "product, gradients/product_grad/MatMul_1"
    assert steps.by_line()[0][0].line == line
    assert set(steps.scopes.inside["gradients"].inside["product_grad"].inside) == {"MatMul_1"}


def test_what_runs_in_a_loop_is_inside_of_it(session):
    _, x = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, tf.matmul(x, x, name="inner")), [0, tf.ones([2, 2])])
    (steps,) = costs_of(lambda: [session.run(x) for _ in range(6)]).kinds
    ops = ops_of(steps)
    assert ops["while/inner"].runs == 5 * len(steps.traced)
    loop = ops["while/While"]
    assert 0 < loop.own < loop.total
    assert sum(cost.own for cost in steps.costs) == sum(r.took for found in steps.ran_in_each for r in found if r.depth == 0)


def test_parts_of_a_step_make_the_whole(session):
    x = tf.placeholder(tf.float32, [100, 100])
    y = tf.matmul(x, x)
    fed = np.ones([100, 100], np.float32)
    costs = costs_of(lambda: [session.run(y, {x: fed}) for _ in range(20)])
    (steps,) = costs.kinds
    assert len(steps.parts) == len(PARTS) and steps.whole == sum(steps.parts)
    assert steps.outside == pytest.approx(1 - steps.parts[KERNELS] / steps.whole)
    assert costs.runs == 20 and 0 < costs.in_steps <= costs.nanoseconds


def test_steps_that_something_else_held_up_do_not_count(session):
    x = tf.ones([2]) + tf.zeros([2])
    recorder = recorded(lambda: [session.run(x) for _ in range(30)], steps=5)
    (kind,) = recorder.kinds.values()
    late = kind.traced[0]
    kind.traced[0] = late._replace(began=late.began - 10**12)
    (steps,) = Costs(recorder).kinds
    assert 1 <= len(steps.traced) < 5 and max(s.ended - s.began for s in steps.traced) < 10**12


def test_a_failing_step_fails_as_ever(session):
    x = tf.placeholder(tf.float32, [None])
    y = tf.check_numerics(x, "wrong", name="checked")

    def fail():
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"wrong : Tensor had NaN values\n\t \[\[node checked ") as caught:
            session.run(y, {x: [np.nan]})
        return caught.value

    plain = fail()
    session.close()
    with tf.Session() as session:

        def again():
            traced, untraced = fail(), fail()
            assert str(traced) == str(untraced) == str(plain)
            assert traced.op is untraced.op is y.op
            session.run(y, {x: [1.0]})

        recorded(again)


def test_callables_and_other_threads_are_seen(session):
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    found = []

    def run():
        call = session.make_callable(y, [x])
        threads = [threading.Thread(target=lambda: found.extend(call(3.0) for _ in range(8))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    (kind,) = recorded(run).kinds.values()
    assert found == [6.0] * 16 and kind.runs == 16 and len(kind.traced) >= 1


def test_afterwards_all_is_as_it_was(session):
    before = codegen.generate, Runner.prepared, Runner.finished, BaseSession._call, BaseSession._find_runner
    recorder = recorded(lambda: session.run(tf.ones([2]) + 1.0))
    assert before == (codegen.generate, Runner.prepared, Runner.finished, BaseSession._call, BaseSession._find_runner)
    x = tf.ones([3]) + 2.0
    session.run(x)
    assert not isinstance(session._runner(x, None).step.call, Timed) and recorder.tracing == 0


def test_ops_that_run_at_once_are_steps_that_end_in_training(eager):
    w = tf.Variable([1.0, 2.0], use_resource=True)
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    def train():
        for _ in range(9):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * w)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    recorder = recorded(train)
    (steps,) = Costs(recorder).kinds
    assert steps.is_at_once and not steps.is_cold and len(steps.traced) == 3
    trained = ops_of(steps)["ResourceApplyGradientDescent"]
    assert trained.runs == 3 and trained.op.place.function == "train"
    assert 0 < steps.parts[KERNELS] < steps.whole


def test_what_runs_in_a_function_is_inside_of_it(eager):
    @tf.function
    def twice(x):
        return tf.matmul(x, x, name="inner")

    (steps,) = costs_of(lambda: twice(tf.ones([2, 2]) + 1.0)).kinds
    ops = ops_of(steps)
    assert ops["twice"].op.type == "function" and ops["inner"].op.type == "MatMul"
    assert ops["twice"].own < ops["twice"].total and ops["inner"].op.place.file == __file__


def test_a_cluster_says_what_ran_where():
    server = tf.train.Server.create_local_server()
    config = tf.ConfigProto()
    config.rpc_options.use_rpc_for_inprocess_master = True
    x = tf.matmul(tf.ones([3, 3]), tf.random_uniform([3, 3]), name="there")
    with tf.Session(server.target, config=config) as session:
        (steps,) = costs_of(lambda: [session.run(x) for _ in range(6)]).kinds
    there = ops_of(steps)["there"]
    assert there.op.place.file == __file__ and there.runs == len(steps.traced)
    assert {r.event.thread for r in steps.ran} == {"/job:local/replica:0/task:0/device:CPU:0"}
