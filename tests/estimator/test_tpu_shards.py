"""TPUEstimator with use_tpu=True: shards on one machine, each with its part of the batch."""

import numpy as np
import pytest

import everflow as tf


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    predictions = features * w
    assert params["batch_size"] == 2
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.tpu.TPUEstimatorSpec(mode, predictions={"y": predictions, "x": features})
    loss = tf.reduce_mean((predictions - labels) ** 2)
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())

    def metrics(y, labels):
        assert y.shape.as_list() == [4, 1]
        return {"mae": tf.metrics.mean_absolute_error(labels, y)}

    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=(metrics, [predictions, labels]))


def estimator_of(tmp_path, how=tf.estimator.tpu.InputPipelineConfig.PER_HOST_V1, **kwargs):
    config = tf.estimator.tpu.RunConfig(
        model_dir=str(tmp_path), tpu_config=tf.estimator.tpu.TPUConfig(num_shards=2, per_host_input_for_training=how)
    )
    sizes = {"train_batch_size": 4, "eval_batch_size": 4, "predict_batch_size": 4, **kwargs}
    return tf.estimator.tpu.TPUEstimator(model_fn, config=config, use_tpu=True, **sizes)


def input_fn(params):
    x = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    return tf.data.Dataset.from_tensor_slices((x, 2 * x)).repeat().batch(params["batch_size"], drop_remainder=True)


@pytest.mark.parametrize("how", ["PER_HOST_V1", "PER_HOST_V2"])
def test_shards_train_together(tmp_path, how):
    """One step by the mean gradient of the whole batch: d/dw mean((wx - 2x)^2) at 0 is -4 mean(x^2)."""
    estimator = estimator_of(tmp_path, tf.estimator.tpu.InputPipelineConfig[how])
    estimator.train(input_fn, steps=1)
    assert estimator.get_variable_value("global_step") == 1
    assert estimator.get_variable_value("w") == pytest.approx(0.1 * 4 * 7.5, rel=1e-6)
    found = estimator.evaluate(input_fn, steps=1)
    assert found["mae"] == pytest.approx(2.5, rel=1e-6) and found["loss"] == pytest.approx(7.5, rel=1e-6)


def test_a_short_last_batch_is_filled_up_and_cut_again(tmp_path):
    estimator = estimator_of(tmp_path)
    estimator.train(input_fn, steps=1)
    three = np.array([[1.0], [2.0], [3.0]], np.float32)
    found = list(estimator.predict(lambda params: tf.data.Dataset.from_tensor_slices(three).batch(params["batch_size"])))
    assert [float(one["x"][0]) for one in found] == [1.0, 2.0, 3.0]


def test_batches_must_be_divisible(tmp_path):
    with pytest.raises(ValueError, match="train batch size 3 must be divisible by number of replicas 2"):
        estimator_of(tmp_path, train_batch_size=3)
    with pytest.raises(ValueError, match="eval_batch_size in TPUEstimator constructor cannot be `None`"):
        estimator_of(tmp_path, eval_batch_size=None).evaluate(input_fn, steps=1)


@pytest.mark.parametrize("shards", [1, 2])
def test_a_host_writes_summaries_of_what_all_shards_give(tmp_path, shards):
    def with_summaries(features, labels, mode, params):
        spec = model_fn(features, labels, mode, {"batch_size": 2})

        def host_call(losses):
            assert losses.shape.as_list() == [shards]
            with tf.contrib.summary.create_file_writer(params["folder"]).as_default(), tf.contrib.summary.always_record_summaries():
                tf.contrib.summary.scalar("all_losses", tf.reduce_mean(losses), step=tf.train.get_global_step())
                return tf.contrib.summary.all_summary_ops()

        return spec._replace(host_call=(host_call, [tf.reshape(spec.loss, [1])]))

    folder = str(tmp_path / "host")
    config = tf.estimator.tpu.RunConfig(model_dir=str(tmp_path / "model"), tpu_config=tf.estimator.tpu.TPUConfig(num_shards=shards))
    estimator = tf.estimator.tpu.TPUEstimator(
        with_summaries, config=config, params={"folder": folder}, use_tpu=True, train_batch_size=4, eval_batch_size=4
    )
    estimator.train(input_fn, steps=2)
    (file,) = (tmp_path / "host").iterdir()
    written = [v for event in tf.train.summary_iterator(str(file)) for v in event.summary.value]
    # At w = 0 the loss is 4 mean(x^2); the step takes w to 3, where it is mean(x^2).
    assert [v.tag for v in written] == ["all_losses", "all_losses"]
    assert [float(tf.make_ndarray(v.tensor)) if v.HasField("tensor") else v.simple_value for v in written] == pytest.approx([30.0, 7.5])
