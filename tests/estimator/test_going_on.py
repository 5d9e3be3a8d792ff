"""When training ends, what is evaluated on the way, and checkpoints that version 2 reads."""

import numpy as np
import pytest

import everflow as tf
from everflow.estimator.canned.dnn import DNNClassifier
from everflow.estimator.checkpoint_conversion import convert_checkpoint

E, F = tf.estimator, tf.feature_column
X = np.arange(8, dtype=np.float32)[:, None]
Y = (X > 2).astype(np.int64)


def batches():
    return tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat()


@pytest.mark.parametrize(("center_bias", "most"), [(False, 6), (True, 16)])
def test_trees_end_with_the_step_that_finishes_the_last_one(tmp_path, center_bias, most):
    trees = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(
        batches, [F.bucketized_column(F.numeric_column("x"), [1, 3, 5])], str(tmp_path), n_trees=2, max_depth=3, center_bias=center_bias
    )
    steps = trees.get_variable_value("global_step")
    # Centering takes few steps: each starts from the bias of the one before it.
    assert steps == 6 if not center_bias else 6 < steps < most


def spec(mode, **kwargs):
    return E.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=tf.no_op(), **kwargs)


@pytest.mark.parametrize(
    ("scaffold", "message"),
    [
        (lambda: tf.train.Scaffold(saver=tf.train.Saver()), "does not support custom saver"),
        (lambda: tf.train.Scaffold(init_fn=lambda s, session: None), "does not support custom init_fn"),
    ],
)
def test_models_with_savers_of_their_own_are_not_evaluated_in_memory(tmp_path, scaffold, message):
    def model(features, labels, mode):
        tf.get_variable("v", initializer=1.0)
        return spec(mode, scaffold=scaffold())

    estimator = E.Estimator(model, str(tmp_path))
    hook = E.experimental.InMemoryEvaluatorHook(estimator, batches, steps=1)
    with pytest.raises(ValueError, match=message):
        hook.begin()


def test_evaluation_in_memory_finds_what_evaluation_of_the_checkpoint_finds(tmp_path):
    words = F.embedding_column(F.categorical_column_with_vocabulary_list("w", ["a", "b", "c"]), 4)

    def texts():
        return tf.data.Dataset.from_tensors(({"w": [["a"], ["b"], ["c"]]}, [[0], [1], [1]])).repeat(2)

    estimator = DNNClassifier([3], [words], model_dir=str(tmp_path), config=E.RunConfig(tf_random_seed=2))
    estimator.train(texts, hooks=[E.experimental.InMemoryEvaluatorHook(estimator, texts, name="memory")])
    found = {}
    for path in (tmp_path / "eval_memory").iterdir():
        for event in tf.train.summary_iterator(str(path)):
            found.update({(event.step, value.tag): value.simple_value for value in event.summary.value})
    assert found[2, "loss"] == pytest.approx(estimator.evaluate(texts)["loss"], rel=1e-6)


def test_a_changed_spec_is_checked():
    made = spec("eval")
    with pytest.raises(ValueError, match="Loss must be scalar"):
        made._replace(loss=tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="mode of EstimatorSpec cannot be changed"):
        made._replace(mode="train")


def test_checkpoints_of_version_1_get_the_names_of_version_2(tmp_path):
    estimator = DNNClassifier([3], [F.numeric_column("x")], model_dir=str(tmp_path / "m"), optimizer=tf.train.AdagradOptimizer(0.25))
    estimator.train(batches, steps=2)
    target = str(tmp_path / "converted" / "model.ckpt")
    convert_checkpoint("dnn", estimator.latest_checkpoint(), str(tmp_path / "m" / "graph.pbtxt"), target)
    read = tf.train.load_checkpoint(target)
    slot = estimator.get_variable_value("dnn/hiddenlayer_0/kernel/t_0/Adagrad")
    assert (read.get_tensor("training/Adagrad/dnn/hiddenlayer_0/kernel/accumulator") == slot).all()
    assert (read.get_tensor("dnn/logits/bias") == estimator.get_variable_value("dnn/logits/bias")).all()
    assert read.get_tensor("training/Adagrad/learning_rate") == np.float32(0.25)
    assert read.get_tensor("training/Adagrad/decay") == 0
    with pytest.raises(ValueError, match="Two `SGD` optimizers"):
        plain = tf.train.GradientDescentOptimizer(0.1)
        other = DNNClassifier([3], [F.numeric_column("x")], model_dir=str(tmp_path / "s"), optimizer=plain).train(batches, steps=1)
        convert_checkpoint("combined", other.latest_checkpoint(), str(tmp_path / "s" / "graph.pbtxt"), target)
