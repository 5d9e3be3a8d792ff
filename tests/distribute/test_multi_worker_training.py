"""Keras and estimators in several processes that train together. What is expected was measured with TensorFlow 1.15.5."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tasks import ROOT, run_tasks

import everflow as tf
from everflow.distribute.coordinator import CoordinatorMode
from everflow.platform.ports import free_ports

KERAS = """
import json, os, sys
import numpy as np
import everflow as tf

folder, mode = sys.argv[1:]
if mode == "eager":
    tf.enable_eager_execution()
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
x = np.arange(32, dtype=np.float32).reshape(16, 2) / 10
y = x.sum(1, keepdims=True) * 2 + 1
with strategy.scope():
    first = tf.keras.layers.Dense(4, activation="tanh", input_shape=(2,))
    model = tf.keras.Sequential([first, tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(0.01, momentum=0.5), "mse", metrics=["mae"])
start = [w.tolist() for w in model.get_weights()]
model.set_weights([np.array([[0.1, 0.2, -0.3, 0.4], [0.4, -0.3, 0.2, 0.1]]), *model.get_weights()[1:]])
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
callbacks = [tf.keras.callbacks.ModelCheckpoint(folder + "/w-{epoch}.h5", save_weights_only=True)]
if mode == "graph":
    callbacks.append(tf.keras.callbacks.TensorBoard(folder + "/events"))
history = model.fit(data.repeat(), epochs=2, steps_per_epoch=2, verbose=0, shuffle=False, callbacks=callbacks)
scores = model.evaluate(data, steps=2, verbose=0)
losses = [float(loss) for loss in history.history["loss"]]
print("found", json.dumps([start, losses, [float(s) for s in scores], [w.ravel().tolist() for w in model.get_weights()]]), flush=True)
"""


def told(printed):
    """What a task printed after the word found."""
    (line,) = [line for line in printed.splitlines() if line.startswith("found ")]
    return json.loads(line.removeprefix("found "))


@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_keras_models_train_in_two_processes_as_in_tensorflow(tmp_path, mode):
    first, second = map(told, run_tasks(KERAS, tmp_path, mode, worker=2).values())
    # Random weights are the first worker's, and whatever the workers do they do together.
    assert first == second
    _, losses, scores, weights = first
    np.testing.assert_allclose(losses, [42.51168, 17.25574], rtol=1e-5)
    np.testing.assert_allclose(scores, [13.06334, 2.78504], rtol=1e-5)
    np.testing.assert_allclose(weights[2], [1.44555, 1.1514, 1.17351, 1.44102], rtol=1e-5)
    np.testing.assert_allclose(weights[3], [0.55742], rtol=1e-5)
    # Only the chief writes.
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == (["events"] if mode == "graph" else []) + ["w-1.h5", "w-2.h5"]
    if mode == "graph":
        # The second file tells TensorBoard of the profile of the second batch.
        written = [path.name.endswith(".profile-empty") for path in (tmp_path / "events").glob("events.*")]
        assert sorted(written) == [False, True]


ESTIMATOR = """
import json, os, sys, time
import numpy as np
import everflow as tf

folder, kind = sys.argv[1:]

def input_fn(input_context=None):
    x = np.arange(16, dtype=np.float32).reshape(8, 2) / 10
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True) * 2 + 1)).repeat().batch(4)

def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w) + b)
    train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

kinds = {
    "core": tf.distribute.experimental.MultiWorkerMirroredStrategy,
    "contrib": tf.contrib.distribute.CollectiveAllReduceStrategy,
    "ps": tf.distribute.experimental.ParameterServerStrategy,
}
config = tf.estimator.RunConfig(folder, train_distribute=kinds[kind](), save_checkpoints_steps=5, log_step_count_steps=None)
estimator = tf.estimator.Estimator(model_fn, config=config)
train = tf.estimator.TrainSpec(input_fn, max_steps=10)
evaluate = tf.estimator.EvalSpec(input_fn, steps=2, start_delay_secs=0, throttle_secs=0)
result = tf.estimator.train_and_evaluate(estimator, train, evaluate)
assert result is None
# A worker of parameter servers may be through before the chief has saved for the first time.
end = time.monotonic() + 60
while tf.train.latest_checkpoint(folder) is None and time.monotonic() < end:
    time.sleep(0.05)
print("found", json.dumps(estimator.get_variable_value("w").ravel().tolist()), flush=True)
"""


@pytest.mark.parametrize("kind", ["core", "contrib"])
def test_estimators_train_in_two_processes_as_in_tensorflow(tmp_path, kind):
    jobs = {"worker": 2} if kind == "core" else {"chief": 1, "worker": 1}
    for text in run_tasks(ESTIMATOR, tmp_path, kind, **jobs).values():
        # The last to end may be the one that saves.
        assert len(told(text)) == 2
    np.testing.assert_allclose(tf.train.load_variable(str(tmp_path), "w").ravel(), [1.69599, 1.84046], rtol=1e-5)
    np.testing.assert_allclose(tf.train.load_variable(str(tmp_path), "b"), [1.44467], rtol=1e-5)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-10")
    # The other worker saves with the chief, where nobody looks.
    other = "tmp_worker_1" if kind == "core" else "tmp_worker_0"
    assert [path.name for path in tmp_path.glob("tmp_*")] == [other]


def test_an_evaluator_looks_at_what_workers_of_parameter_servers_save(tmp_path):
    run_tasks(ESTIMATOR, tmp_path, "ps", ps=1, chief=1, worker=1, evaluator=1)
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 10
    assert list((tmp_path / "eval").glob("events.*"))


SERVER = """
import everflow as tf
tf.contrib.distribute.run_standard_tensorflow_server().join()
"""


@pytest.fixture
def remote_cluster(monkeypatch):
    """Two workers that serve, and wait for a client to tell them what to do."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    running = []
    for index in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        environment = {**os.environ, "TF_CONFIG": config, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"}
        running.append(subprocess.Popen([sys.executable, "-c", SERVER], env=environment))
    yield cluster
    for process in running:
        process.kill()
        process.wait()


def test_one_client_drives_workers_that_only_serve(tmp_path, remote_cluster):
    strategy = tf.contrib.distribute.CollectiveAllReduceStrategy()
    both = tf.contrib.distribute.DistributeConfig(train_distribute=strategy, remote_cluster=remote_cluster)
    config = tf.estimator.RunConfig(str(tmp_path), experimental_distribute=both, log_step_count_steps=None)
    assert config._distribute_coordinator_mode == CoordinatorMode.STANDALONE_CLIENT

    def input_fn():
        x = np.arange(16, dtype=np.float32).reshape(8, 2) / 10
        return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True) * 2 + 1)).repeat().batch(4)

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w) + b)
        train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    estimator = tf.estimator.Estimator(model_fn, config=config)
    train, evaluate = tf.estimator.TrainSpec(input_fn, max_steps=10), tf.estimator.EvalSpec(input_fn, steps=1)
    tf.estimator.train_and_evaluate(estimator, train, evaluate)
    np.testing.assert_allclose(estimator.get_variable_value("w").ravel(), [1.69599, 1.84046], rtol=1e-5)
    with tf.Session() as session:
        assert session.list_devices()[0].name.startswith("/job:localhost/"), "the client is no worker afterwards"


@pytest.mark.parametrize(
    ("text", "given", "mode"),
    [
        ("{}", {"train_distribute": True}, None),
        (
            '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}',
            {"train_distribute": True},
            "independent_worker",
        ),
        ("{}", {"train_distribute": True, "remote": True}, "standalone_client"),
        ("{}", {"remote": True}, None),
    ],
)
def test_configurations_know_how_the_workers_of_their_cluster_run(monkeypatch, text, given, mode):
    monkeypatch.setenv("TF_CONFIG", text)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"]) if given.get("train_distribute") else None
    remote = {"worker": ["a:1"]} if given.get("remote") else None
    config = tf.estimator.RunConfig(
        train_distribute=strategy, experimental_distribute=tf.contrib.distribute.DistributeConfig(remote_cluster=remote)
    )
    assert config._distribute_coordinator_mode == mode
    # Who a task is, it learns when it runs.
    assert (config.task_type, config.task_id, config.master, config.num_worker_replicas) == ("worker", 0, "", 1)


def test_strategies_and_clusters_are_given_once(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}')
    strategy, both = tf.distribute.MirroredStrategy(["/cpu:0"]), tf.contrib.distribute.DistributeConfig
    with pytest.raises(ValueError, match="Either `train_distribute` or"):
        tf.estimator.RunConfig(train_distribute=strategy, experimental_distribute=both(train_distribute=strategy))
    with pytest.raises(ValueError, match="Either `eval_distribute` or"):
        tf.estimator.RunConfig(eval_distribute=strategy, experimental_distribute=both(eval_distribute=strategy))
    with pytest.raises(ValueError, match='Cannot set both "cluster_spec" of TF_CONFIG'):
        tf.estimator.RunConfig(experimental_distribute=both(train_distribute=strategy, remote_cluster={"worker": ["a:1"]}))
