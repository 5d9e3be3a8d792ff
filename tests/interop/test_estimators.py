"""Estimators of Everflow and of TensorFlow 1.15 go on in each other's model folders, and answer alike.

One program makes the model, and runs on both sides: what differs is what the sides do with it.
"""

import numpy as np
import pytest

import everflow as tf

PROGRAM = '''
rng = np.random.RandomState(3)
X = rng.rand(64, 3).astype(np.float32)
WORDS = np.array(["red", "green", "blue"])[rng.randint(0, 3, 64)].astype(object)
Y = (X.sum(axis=1) + (WORDS == "red") > 1.6).astype(np.int64)[:, None]


def some(number=None):
    """Features of the first examples, or of all."""
    x, words = X[:number], WORDS[:number]
    return {"a": x[:, :1], "b": x[:, 1:], "word": words.reshape(-1, 1)}


def batches():
    return tf.data.Dataset.from_tensors((some(), Y)).repeat()


def model(kind, folder):
    E, F = tf.estimator, tf.feature_column
    config = E.RunConfig(tf_random_seed=1, model_dir=folder)
    a, b = F.numeric_column("a"), F.numeric_column("b", shape=[2])
    word = F.categorical_column_with_vocabulary_list("word", ["red", "green", "blue"])
    if kind == "combined":
        return E.DNNLinearCombinedClassifier(
            linear_feature_columns=[word, F.crossed_column(["word", F.bucketized_column(a, [0.3, 0.6])], 20)],
            dnn_feature_columns=[a, b, F.embedding_column(word, 4)],
            dnn_hidden_units=[8, 4],
            batch_norm=True,
            config=config,
        )
    if kind == "trees":
        columns = [F.bucketized_column(a, [0.2, 0.4, 0.6, 0.8]), F.indicator_column(word)]
        return E.BoostedTreesClassifier(columns, n_batches_per_layer=1, n_trees=6, max_depth=3, center_bias=True, config=config)
    if kind == "ftrl":
        optimizer = tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.001, l2_regularization_strength=0.01)
        return E.LinearClassifier([b, word], optimizer=optimizer, config=config)
    if kind == "baseline":
        return E.BaselineClassifier(optimizer="Ftrl", config=config)
    columns = [a, F.numeric_column("b", shape=[2])]
    return E.BoostedTreesRegressor(columns, n_batches_per_layer=1, n_trees=6, max_depth=3, config=config)


def column_names(kind):
    return {
        "combined": ["a", "b", "word"], "trees": ["a", "word"], "float_trees": ["a", "b"], "ftrl": ["b", "word"],
        "baseline": ["a"],
    }[kind]


def state(estimator):
    """How well it does, and what it says, as JSON can hold it."""
    metrics = {k: float(v) for k, v in estimator.evaluate(batches, steps=1).items()}
    # Batches of a size that the graph does not know: a baseline looks at nothing else of them, and would never see their end.
    said = [p[answer_of(p)].tolist() for p in estimator.predict(lambda: tf.data.Dataset.from_tensor_slices(some(8)).batch(8))]
    return [metrics, said]


def answer_of(outputs):
    """What is compared of a model's answers."""
    return next(key for key in ("logits", "predictions") if key in outputs)


def exported(estimator, kind, folder):
    types = {"a": (tf.float32, [None, 1]), "b": (tf.float32, [None, 2]), "word": (tf.string, [None, 1])}
    features = {name: tf.placeholder(*types[name]) for name in column_names(kind)}
    receive = tf.estimator.export.build_raw_serving_input_receiver_fn(features)
    return estimator.export_saved_model(folder, receive).decode()


def served(path, kind):
    """What the exported model answers."""
    fed = {"a": X[:8, :1], "b": X[:8, 1:], "word": WORDS[:8].reshape(-1, 1)}
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], path)
        signature = loaded.signature_def["predict" if "predict" in loaded.signature_def else "serving_default"]
        feeds = {signature.inputs[name].name: fed[name] for name in column_names(kind)}
        return session.run(signature.outputs[answer_of(signature.outputs)].name, feeds).tolist()
'''


def here():
    """The program on this side."""
    space = {"tf": tf, "np": np}
    exec(PROGRAM, space)
    return space


def close(a, b):
    """Whether two states agree but for the last digits."""
    assert a[0].keys() == b[0].keys()
    for key in a[0]:
        assert a[0][key] == pytest.approx(b[0][key], rel=1e-3, abs=1e-4), key
    np.testing.assert_allclose(a[1], b[1], rtol=1e-3, atol=1e-4)


STEPS = {"combined": 10, "trees": 9, "float_trees": 10, "ftrl": 10, "baseline": 10}
KINDS = list(STEPS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_of_tensorflow_is_trained_on_here(tensorflow_1, tmp_path, kind):
    folder, apart = str(tmp_path / "model"), str(tmp_path / "apart")
    there, there_later = tensorflow_1(
        PROGRAM + "import shutil\nkind, folder, apart, steps = sys.argv[1:]\n"
        "e = model(kind, folder)\ne.train(batches, steps=int(steps))\nfound = [state(e)]\n"
        "shutil.copytree(folder, apart)\ne = model(kind, apart)\ne.train(batches, steps=3)\nfound.append(state(e))",
        kind,
        folder,
        apart,
        STEPS[kind],
    )
    program = here()
    estimator = program["model"](kind, folder)
    close(program["state"](estimator), there)
    estimator.train(program["batches"], steps=3)
    close(program["state"](estimator), there_later)


@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_trains_on_in_a_folder_from_here(tensorflow_1, tmp_path, kind):
    folder, apart = str(tmp_path / "model"), str(tmp_path / "apart")
    program = here()
    estimator = program["model"](kind, folder)
    estimator.train(program["batches"], steps=STEPS[kind])
    ours = program["state"](estimator)
    there, there_later = tensorflow_1(
        PROGRAM + "import shutil\nkind, folder, apart = sys.argv[1:]\nshutil.copytree(folder, apart)\n"
        "e = model(kind, apart)\nfound = [state(e)]\ne.train(batches, steps=3)\nfound.append(state(e))",
        kind,
        folder,
        apart,
    )
    close(ours, there)
    estimator.train(program["batches"], steps=3)
    close(program["state"](estimator), there_later)


@pytest.mark.parametrize("kind", KINDS)
def test_exported_models_answer_alike_on_both_sides(tensorflow_1, tmp_path, kind):
    program = here()
    estimator = program["model"](kind, str(tmp_path / "model"))
    estimator.train(program["batches"], steps=STEPS[kind])
    with tf.Graph().as_default():
        ours = program["exported"](estimator, kind, str(tmp_path / "ours"))
    theirs, answer_to_ours, answer_to_theirs = tensorflow_1(
        PROGRAM + "kind, folder, ours, base = sys.argv[1:]\ne = model(kind, folder)\ntheirs = exported(e, kind, base)\n"
        "found = [theirs, served(ours, kind), served(theirs, kind)]",
        kind,
        tmp_path / "model",
        ours,
        tmp_path / "theirs",
    )
    for answer in (answer_to_ours, answer_to_theirs, program["served"](theirs, kind)):
        np.testing.assert_allclose(answer, program["served"](ours, kind), rtol=1e-4, atol=1e-5)
