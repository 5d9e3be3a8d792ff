"""train_and_evaluate as a cluster's processes run it: a chief, a worker, parameter servers and an evaluator, told apart by TF_CONFIG."""

import json
import os
import subprocess
import sys

import numpy as np

import everflow as tf
from everflow.platform.ports import free_ports

STEPS = 24

TASK = """
import sys
import numpy as np
import everflow as tf

tf.logging.set_verbosity(tf.logging.INFO)
folder, steps = sys.argv[1], int(sys.argv[2])
random = np.random.RandomState(0)
points = random.normal(size=(64, 2)).astype(np.float32)
labels = (points.sum(1) > 0).astype(np.int32)
config = tf.estimator.RunConfig(
    model_dir=folder, save_checkpoints_steps=12, tf_random_seed=1, experimental_max_worker_delay_secs=0, log_step_count_steps=6
)
words = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
numbers = tf.feature_column.numeric_column("x", [2])
features = {"x": points, "word": random.choice(["a", "b"], 64)}
model = tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=[words], dnn_feature_columns=[numbers, tf.feature_column.embedding_column(words, 2)],
    dnn_hidden_units=[4], config=config,
)
spec = tf.feature_column.make_parse_example_spec([words, numbers])
exporters = [tf.estimator.FinalExporter("last", tf.estimator.export.build_parsing_serving_input_receiver_fn(spec))]

def input_fn(times=None):
    return tf.data.Dataset.from_tensor_slices((features, labels)).repeat(times).batch(32)

result = tf.estimator.train_and_evaluate(
    model,
    tf.estimator.TrainSpec(input_fn, max_steps=steps),
    tf.estimator.EvalSpec(lambda: input_fn(1), steps=None, start_delay_secs=0, throttle_secs=1, exporters=exporters),
)
assert result is None
"""


PARAMETER_SERVER = """
import json, os
import everflow as tf
settings = json.loads(os.environ["TF_CONFIG"])
tf.train.Server(settings["cluster"], job_name="ps", task_index=settings["task"]["index"]).join()
"""


def started(cluster, job, index, folder, *command):
    """A process that plays a part in a cluster, and writes what it has to say to a log."""
    surroundings = {**os.environ, "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})}
    with (folder / f"{job}{index}.log").open("w") as log:
        return subprocess.Popen([sys.executable, *command], env=surroundings, stdout=log, stderr=log)


def test_a_cluster_trains_evaluates_and_exports(tmp_path):
    chief, worker, *servers = (f"127.0.0.1:{port}" for port in free_ports(4))
    cluster = {"chief": [chief], "worker": [worker], "ps": servers}
    program = tmp_path / "task.py"
    program.write_text(TASK)
    tasks = [("ps", 0), ("chief", 0), ("worker", 0), ("evaluator", 0)]
    processes = {t: started(cluster, *t, tmp_path, str(program), str(tmp_path / "model"), str(STEPS)) for t in tasks}
    processes["ps", 1] = started(cluster, "ps", 1, tmp_path, "-c", PARAMETER_SERVER)
    try:
        codes = [processes[job, 0].wait(240) for job in ("chief", "worker", "evaluator")]
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    logs = {job: (tmp_path / f"{job}0.log").read_text() for job, _ in tasks}
    assert codes == [0, 0, 0], logs
    step = tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path / "model")), "global_step")
    # Who asks for a step when another takes the last one makes one more; and both may read the count before the other's step.
    assert STEPS <= step <= STEPS + 2
    assert f"Saving checkpoints for {step} into" in logs["chief"]
    assert "Saving checkpoints" not in logs["worker"] and "Loss for final step: " in logs["worker"]
    assert f"Saving dict for global step {step}: accuracy = " in logs["evaluator"]
    assert f"Exiting evaluation, global_step={step} >= train max_steps={STEPS}" in logs["evaluator"]
    assert "Start Tensorflow server." in logs["ps"]
    (exported,) = (tmp_path / "model" / "export" / "last").iterdir()
    answer = tf.contrib.predictor.from_saved_model(str(exported), signature_def_key="predict")
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    example.features.feature["word"].bytes_list.value.append(b"a")
    assert np.isfinite(answer({"examples": [example.SerializeToString()]})["logits"]).all()


def test_trees_grow_on_a_parameter_server(tmp_path, monkeypatch):
    cluster = {job: [f"127.0.0.1:{port}"] for job, port in zip(("chief", "ps"), free_ports(2))}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}}))
    buckets = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0.0])]
    config = tf.estimator.RunConfig(model_dir=str(tmp_path / "model"))
    model = tf.estimator.BoostedTreesRegressor(buckets, n_batches_per_layer=1, n_trees=2, max_depth=1, learning_rate=1.0, config=config)

    def input_fn():
        return tf.data.Dataset.from_tensors(({"x": [-1.0, -2.0, 3.0]}, [[-1.0], [-1.0], [5.0]])).repeat()

    server = started(cluster, "ps", 0, tmp_path, "-c", PARAMETER_SERVER)
    try:
        train, evaluate = tf.estimator.TrainSpec(input_fn, max_steps=20), tf.estimator.EvalSpec(input_fn)
        assert tf.estimator.train_and_evaluate(model, train, evaluate) is None
    finally:
        server.kill()
        server.wait()
    monkeypatch.delenv("TF_CONFIG")
    local = tf.estimator.BoostedTreesRegressor(buckets, n_batches_per_layer=1, model_dir=str(tmp_path / "model"))
    found = [float(p["predictions"][0]) for p in local.predict(lambda: tf.data.Dataset.from_tensors({"x": [-3.0, 1.0]}))]
    np.testing.assert_allclose(found, [-1.0, 5.0], rtol=1e-5)
