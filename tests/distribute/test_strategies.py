"""tf.distribute on one machine: replicas, their variables, and what they give together."""

import numpy as np
import pytest

import everflow as tf

TWO = ["/cpu:0", "/cpu:1"]


def run(*fetches):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [session.run(fetch) for fetch in fetches]


def test_outside_of_scopes_the_default_strategy_has_one_replica():
    assert not tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context()
    assert tf.distribute.get_strategy().num_replicas_in_sync == 1
    assert run(tf.distribute.get_replica_context().replica_id_in_sync_group) == [0]


def test_scopes_speak_for_all_replicas():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy and tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_replica_context() is None
        with pytest.raises(RuntimeError, match="Mixing different"), tf.distribute.OneDeviceStrategy("/cpu:0").scope():
            pass


def test_mirrored_variables_have_a_copy_on_each_device():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        v = tf.Variable(3.0, name="v")
    assert [copy.name for copy in strategy.experimental_local_results(v)] == ["v:0", "v/replica_1:0"]
    assert [copy.device[-5:] for copy in v.values] == ["CPU:0", "CPU:1"]
    assert tf.global_variables() == [v] and tf.trainable_variables() == [v]
    assert run(v.values[1]) == [3.0]


def test_replicas_know_who_they_are_and_reductions_make_one_value():
    strategy = tf.distribute.MirroredStrategy(TWO)

    def step():
        return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0

    found = strategy.experimental_run_v2(step)
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, found)
    mean = strategy.reduce("MEAN", found)
    assert run(list(found.values), total, mean) == [[1.0, 2.0], 3.0, 1.5]


def test_replicas_meet_in_merge_calls():
    strategy = tf.distribute.MirroredStrategy(TWO)

    def step():
        context = tf.distribute.get_replica_context()
        mine = tf.cast(context.replica_id_in_sync_group, tf.float32)
        together = context.merge_call(lambda strategy, x: strategy.reduce(tf.distribute.ReduceOp.SUM, x), args=(mine + 1,))
        return together * 10 + mine, context.all_reduce("SUM", mine + 5)

    found, reduced = strategy.experimental_run_v2(step)
    assert run(list(found.values), list(reduced.values)) == [[30.0, 31.0], [11.0, 11.0]]


def test_an_error_of_one_replica_is_that_of_the_call():
    strategy = tf.distribute.MirroredStrategy(TWO)

    def step():
        if tf.distribute.get_replica_context()._replica_id:
            raise KeyError("second")
        tf.distribute.get_replica_context().merge_call(lambda strategy: None)

    with pytest.raises(KeyError, match="second"):
        strategy.experimental_run_v2(step)


def test_replicas_share_variables_and_add_up_gradients():
    """A step over two halves of a batch is the step over the batch."""
    x = np.arange(8, dtype=np.float32).reshape(8, 1) / 8

    def loss_of(batch):
        w = tf.get_variable("w", [1, 1], initializer=tf.ones_initializer())
        return tf.reduce_sum((tf.matmul(batch, w) - 3.0) ** 2)

    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(0.1)
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices(x).batch(4))
        train = strategy.experimental_run(lambda batch: optimizer.minimize(loss_of(batch), step), iterator)
    with tf.variable_scope("", reuse=True):
        w = tf.get_variable("w")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run([iterator.initialize(), tf.global_variables_initializer()])
        for _ in range(2):
            session.run(train)
        distributed, count = session.run([w.values, step])
    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.placeholder(tf.float32, [None, 1])
        single = tf.train.AdamOptimizer(0.1).minimize(loss_of(batch))
        session.run(tf.global_variables_initializer())
        for i in range(2):
            session.run(single, {batch: x[4 * i : 4 * i + 4]})
        expected = session.run(tf.global_variables()[0])
    assert count == 2
    np.testing.assert_allclose(distributed, [expected, expected], rtol=1e-6)


def test_writes_in_replicas_are_aggregated():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        total = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        plain = tf.Variable(1.0)

    def mine():
        return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1

    done = strategy.experimental_run_v2(lambda: total.assign_add(mine()))
    with tf.control_dependencies([tf.group(*(d.op for d in done.values))]):
        after = [copy.read_value() for copy in total.values]
    assert run(after) == [[4.0, 4.0]]
    with pytest.raises(ValueError, match="You must specify an aggregation method"):
        strategy.experimental_run_v2(lambda: plain.assign_add(1.0))


def test_copies_that_go_their_own_ways_are_brought_together_when_read():
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    done = strategy.experimental_run_v2(
        lambda: v.assign_add(tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32), read_value=False)
    )
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        session.run(list(done.values))
        assert session.run(list(v.values)) == [1.0, 2.0] and session.run(v) == 3.0


def test_checkpoints_hold_one_value_and_restore_all_copies(tmp_path):
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        session.run([copy.assign([0.0, 0.0]) for copy in v.values])
        saver.restore(session, path)
        assert [list(value) for value in session.run(list(v.values))] == [[1.0, 2.0], [1.0, 2.0]]
    assert tf.train.list_variables(path) == [("v", [2])]


def test_one_device_strategy_makes_plain_variables_on_its_device():
    strategy = tf.contrib.distribute.OneDeviceStrategy("/cpu:1")
    with strategy.scope():
        v = tf.Variable(2.0)
        assert v.device.endswith("CPU:1") and strategy.extended.variable_created_in_scope(v)
    found = strategy.experimental_run_v2(lambda x: x * v, args=(4.0,))
    assert found.device.endswith("CPU:1") and run(strategy.reduce("SUM", found)) == [8.0]


@pytest.mark.parametrize("devices", [TWO, ["/cpu:0"]])
def test_estimators_train_and_evaluate_on_all_replicas(tmp_path, devices):
    def input_fn():
        data = np.arange(8, dtype=np.float32).reshape(8, 1)
        return tf.data.Dataset.from_tensor_slices(({"x": data}, data * 2)).batch(2)

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [1, 1], initializer=tf.ones_initializer())
        predictions = tf.matmul(features["x"], w)
        loss = tf.losses.mean_squared_error(labels, predictions)
        train = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops={"mean": tf.metrics.mean(labels)})

    strategy = tf.distribute.MirroredStrategy(devices)
    config = tf.estimator.RunConfig(
        str(tmp_path), train_distribute=strategy, eval_distribute=strategy, session_config=tf.ConfigProto(device_count={"CPU": 2})
    )
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(input_fn)
    found = estimator.evaluate(input_fn)
    assert found["global_step"] == 4 // len(devices)
    assert found["mean"] == 7.0
    # The gradient is that of the mean over what the replicas saw in a step.
    w, x = 1.0, np.arange(8.0)
    for batch in x.reshape(4 // len(devices), -1):
        w -= 0.01 * np.mean(2 * (w * batch - 2 * batch) * batch)
    np.testing.assert_allclose(estimator.get_variable_value("w"), [[w]], rtol=1e-5)


def test_keras_optimizers_add_up_the_gradients_of_replicas():
    x = np.arange(4, dtype=np.float32).reshape(4, 1)
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope():
        w = tf.Variable([[1.0]])
        optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices(x).batch(4))

    def step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.matmul(batch, w) - 3.0) ** 2)
        return optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    train = list(strategy.experimental_local_results(strategy.experimental_run(step, iterator)))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run([iterator.initialize(), tf.global_variables_initializer()])
        session.run(train)
        expected = 1.0 - 0.01 * np.sum(2 * (x - 3.0) * x)
        np.testing.assert_allclose(session.run(list(w.values)), [[[expected]]] * 2, rtol=1e-5)
        assert session.run(optimizer.iterations) == 1


def test_keras_models_made_in_a_scope_train_and_keep_their_copies_the_same():
    strategy = tf.distribute.MirroredStrategy(TWO)
    x = np.linspace(0, 1, 16, dtype=np.float32).reshape(8, 2)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse", metrics=["mae"])
    losses = model.fit(x, x.sum(1, keepdims=True) + 1, batch_size=4, epochs=3, verbose=0, shuffle=False).history["loss"]
    assert losses[-1] < losses[0]
    copies = tf.keras.backend.batch_get_value([copy for v in model.weights for copy in v.values])
    np.testing.assert_array_equal(copies[0], copies[1])


def test_keras_models_made_in_a_scope_train_where_ops_run_at_once(eager):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    assert type(model.weights[0]).__name__ == "MirroredVariable"
    x = np.ones((8, 2), np.float32)
    # A step of a fifth of the error (1) for each weight and the bias, by means over all replicas.
    model.fit(x, x.sum(1) + 1, batch_size=8, epochs=1, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], [[1.2], [1.2]], rtol=1e-6)


def test_compile_takes_a_strategy_as_programs_of_the_early_days_gave_it():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    metrics = ["mae", tf.keras.metrics.MeanSquaredError()]
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=metrics, distribute=tf.distribute.MirroredStrategy(TWO))
    x = np.ones((8, 2), np.float32)
    assert model.evaluate(x, x.sum(1) + 1, verbose=0) == [1.0, 1.0, 1.0]
    history = model.fit(x, x.sum(1) + 1, batch_size=4, epochs=2, verbose=0)
    # What is left of the error after each step is two fifths of it.
    np.testing.assert_allclose(history.history["loss"], [(1 + 0.16) / 2, (0.16**2 + 0.16**3) / 2], rtol=1e-5)
    assert model.history is history
    np.testing.assert_allclose(model.get_weights()[1], [0.2 + 0.08 + 0.032 + 0.0128], rtol=1e-5)
    np.testing.assert_allclose(model.predict(x)[:1], [[3 - 0.4**4]], rtol=1e-5)


def test_compile_refuses_strategies_for_models_that_can_not_be_copied(eager):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="created without `input_shape`"):
        model.compile("sgd", "mse", distribute=strategy, experimental_run_tf_function=False)
    with pytest.raises(ValueError, match="not available in TF 2.0"):
        model.compile("sgd", "mse", distribute=strategy)


def test_steps_run_on_an_iterator_leave_no_trace_in_names():
    strategy, made = tf.distribute.OneDeviceStrategy("/cpu:0"), []

    def noting(next_creator, **kwargs):
        made.append(next_creator(**kwargs))
        return made[-1]

    with tf.variable_creator_scope(noting), strategy.scope():
        optimizer = tf.keras.optimizers.SGD(0.1)
        iterator = strategy.make_input_fn_iterator(lambda _: tf.data.Dataset.from_tensors(1.0).repeat())

        def step(context, x):
            w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
            return optimizer.minimize(lambda: w * x, [w])

        done = strategy.extended.experimental_run_steps_on_iterator(step, iterator, iterations=3).run_op
    assert sorted(v.name for v in made)[-1] == "w:0" and all(v.name.startswith(("SGD/", "w:")) for v in made)
    with tf.Session() as session:
        session.run([iterator.initialize(), [v.initializer for v in made]])
        session.run(done)
        assert abs(session.run(next(v for v in made if v.name == "w:0")) + 0.3) < 1e-6


def test_a_keras_model_becomes_an_estimator_that_trains_on_all_replicas(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu", input_shape=(3,)), tf.keras.layers.Dense(1, "sigmoid")])
    model.compile(tf.train.GradientDescentOptimizer(0.2), "binary_crossentropy")

    def input_fn():
        x = np.random.RandomState(0).rand(64, 3)
        return tf.data.Dataset.from_tensor_slices((tf.cast(x, tf.float32), (x.sum(1) > 1.5).astype(np.int64)[:, None])).repeat(10).batch(32)

    config = tf.estimator.RunConfig(
        train_distribute=tf.contrib.distribute.MirroredStrategy(TWO), session_config=tf.ConfigProto(device_count={"CPU": 2})
    )
    estimator = tf.keras.estimator.model_to_estimator(keras_model=model, config=config, model_dir=str(tmp_path))
    start = tf.train.load_variable(str(tmp_path / "keras"), "dense/kernel")
    estimator.train(input_fn=input_fn, steps=5)
    assert estimator.get_variable_value("global_step") == 5
    assert np.abs(estimator.get_variable_value("dense/kernel") - start).max() > 0


@pytest.fixture
def two_processors():
    """Eagerly, a processor that is split in two."""
    (cpu,) = tf.config.experimental.list_physical_devices("CPU")
    half = tf.config.experimental.VirtualDeviceConfiguration
    tf.config.experimental.set_virtual_device_configuration(cpu, [half(), half()])
    yield
    tf.config.experimental.set_virtual_device_configuration(cpu, [half()])


def test_variables_that_are_there_at_once_say_on_which_part_of_a_processor(eager, two_processors):
    with tf.distribute.MirroredStrategy(TWO).scope():
        v = tf.Variable(3.0)
    assert [copy.device[-5:] for copy in v.values] == ["CPU:0", "CPU:1"]
    with tf.device("/cpu:1"):
        assert tf.Variable(1.0).device == "/job:localhost/replica:0/task:0/device:CPU:1"


def test_replicas_that_run_at_once_are_in_the_variable_scope_of_who_calls_them(eager, two_processors):
    strategy = tf.distribute.MirroredStrategy(TWO)
    with strategy.scope(), tf.variable_scope("main"):
        assert strategy.extended.call_for_each_replica(lambda: tf.get_variable("v", [1])).name == "main/v:0"


def test_who_speaks_for_all_gets_copies_brought_together():
    strategy = tf.distribute.MirroredStrategy(TWO)

    def step():
        v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
        return v, v.assign_add(tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32))

    with strategy.scope():
        v, more = strategy.extended.call_for_each_replica(step)
        assert run(list(more.values), v.get()) == [[1.0, 2.0], 3.0]


def test_batches_without_rows_leave_averages_as_they_are():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    strategy.extended.experimental_enable_get_next_as_optional = True
    with strategy.scope():
        layer = tf.keras.layers.BatchNormalization(fused=False)
        x = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_sum(layer(x, training=True))
        slopes = tf.gradients(loss, layer.trainable_weights)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([loss, slopes, layer.updates], {x: np.zeros([0, 3])})
        assert found[0] == 0 and np.array_equal(found[1], np.zeros([2, 3]))
        assert np.array_equal(session.run([layer.moving_mean, layer.moving_variance]), [[0, 0, 0], [1, 1, 1]])
