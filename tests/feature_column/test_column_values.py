"""What each column gives, in dense layers, linear models and sequences, and what its facts are."""

import numpy as np
import pytest

import everflow as tf

fc = tf.feature_column
TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)


def run(made):
    """A value, after variables and tables are initialized."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(made)


def ids(key="i", buckets=3, **kwargs):
    return fc.categorical_column_with_identity(key, buckets, **kwargs)


def sparse(*rows):
    """Rows of ids as a sparse tensor."""
    places = [[r, c] for r, row in enumerate(rows) for c in range(len(row))]
    return tf.SparseTensor(places, [x for row in rows for x in row], [len(rows), max(map(len, rows))])


def embedding(**kwargs):
    return fc.embedding_column(ids(), 2, initializer=tf.constant_initializer(TABLE), **kwargs)


@pytest.mark.parametrize(
    ("columns", "features", "expected"),
    [
        (lambda: [fc.numeric_column("x", shape=(2,)), fc.numeric_column("a")], {"x": [[1.0, 2.0]], "a": [[3.0]]}, [[3, 1, 2]]),
        (lambda: [fc.numeric_column("x", dtype=tf.int64)], {"x": [[4]]}, [[4]]),
        (lambda: [fc.numeric_column("x", normalizer_fn=lambda t: (t - 1) / 2)], {"x": [[5.0]]}, [[2]]),
        (lambda: [fc.bucketized_column(fc.numeric_column("x", shape=2), [0.0, 2.0])], {"x": [[-1.0, 1.0]]}, [[1, 0, 0, 0, 1, 0]]),
        (lambda: [fc.indicator_column(ids())], {"i": [[0, 2], [2, 2]]}, [[1, 0, 1], [0, 0, 2]]),
        (lambda: [fc.indicator_column(ids(default_value=1))], {"i": [[7]]}, [[0, 1, 0]]),
        (
            lambda: [fc.indicator_column(fc.categorical_column_with_vocabulary_list("w", [5, 7, 9], dtype=tf.int64))],
            {"w": np.array([[9, 5, 1]])},
            [[1, 0, 1]],
        ),
        (
            lambda: [fc.indicator_column(fc.categorical_column_with_vocabulary_list("w", ["a", "b"], default_value=1))],
            {"w": [["z"]]},
            [[0, 1]],
        ),
        (lambda: [fc.indicator_column(fc.weighted_categorical_column(ids(), "w"))], {"i": [[0, 1]], "w": [[0.5, 3.0]]}, [[0.5, 3, 0]]),
        (lambda: [embedding()], {"i": [[0, 2]]}, [TABLE[[0, 2]].mean(0)]),
        (lambda: [embedding(combiner="sum")], {"i": [[0, 2]]}, [TABLE[[0, 2]].sum(0)]),
        (lambda: [embedding(combiner="sqrtn")], {"i": [[0, 2]]}, [TABLE[[0, 2]].sum(0) / np.sqrt(2)]),
        (lambda: [embedding(max_norm=1.0)], {"i": [[2]]}, [TABLE[2] / np.linalg.norm(TABLE[2])]),
    ],
)
@pytest.mark.parametrize(
    "layer",
    [lambda columns: lambda features: fc.input_layer(features, columns), lambda columns: tf.keras.layers.DenseFeatures(columns)],
    ids=["input_layer", "DenseFeatures"],
)
def test_dense_features_are_those_by_hand(columns, features, expected, layer):
    np.testing.assert_allclose(run(layer(columns())({k: tf.constant(v) for k, v in features.items()})), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("column", "features", "expected"),
    [
        (lambda: fc.numeric_column("x", shape=2), {"x": [[3.0, 3.0], [1.0, 2.0]]}, [6, 3]),
        (lambda: fc.bucketized_column(fc.numeric_column("x"), [0.0]), {"x": [[-1.0], [2.0]]}, [1, 1]),
        (lambda: ids(), {"i": [[0, 1], [2, 2]]}, [2, 2]),
        (lambda: fc.weighted_categorical_column(ids(), "w"), {"i": [[0, 1]], "w": [[0.5, 2.0]]}, [2.5]),
        (lambda: fc.crossed_column(["s", "t"], 10), {"s": [["a", "b"]], "t": [["c"]]}, [2]),
    ],
)
def test_linear_models_add_weights(column, features, expected):
    prediction = fc.linear_model({k: tf.constant(v) for k, v in features.items()}, [column()])
    weights = [v for v in tf.global_variables() if "bias" not in v.name]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer(), [w.assign(tf.ones_like(w)) for w in weights]])
        session.run([w.assign(tf.ones_like(w)) for w in weights])
        np.testing.assert_allclose(session.run(prediction), np.array(expected)[:, None])
        (bias,) = (v for v in tf.global_variables() if "bias" in v.name)
        session.run(bias.assign([10.0]))
        np.testing.assert_allclose(session.run(prediction), np.array(expected)[:, None] + 10)


def test_shared_tables_are_looked_up_for_each_column():
    columns = fc.shared_embedding_columns([ids("a"), ids("b")], 2, initializer=tf.constant_initializer(TABLE))
    np.testing.assert_allclose(run(fc.input_layer({"a": tf.constant([[1]]), "b": tf.constant([[2]])}, columns)), [[*TABLE[1], *TABLE[2]]])


def test_means_and_units_of_linear_models():
    prediction = fc.linear_model({"i": sparse([0, 1], [2])}, [ids()], units=2, sparse_combiner="mean")
    (weights,) = (v for v in tf.global_variables() if "bias" not in v.name)
    assert weights.name == "linear_model/i/weights:0"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(weights.assign(TABLE))
        np.testing.assert_allclose(session.run(prediction), [TABLE[:2].mean(0), TABLE[2]])


def test_sequences_have_lengths_and_gaps():
    S = tf.feature_column
    features = {"i": sparse([0, 2], [1])}
    layer = tf.keras.experimental.SequenceFeatures(
        [S.embedding_column(S.sequence_categorical_column_with_identity("i", 3), 2, initializer=tf.constant_initializer(TABLE))]
    )
    values, lengths = run(layer(features))
    np.testing.assert_allclose(values, [TABLE[[0, 2]], [TABLE[1], [0, 0]]])
    assert lengths.tolist() == [2, 1]
    numbers = tf.keras.experimental.SequenceFeatures([S.sequence_numeric_column("x", shape=2, default_value=-1.0)])
    values, lengths = run(numbers({"x": tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]], [1.0, 2, 3, 4, 5, 6], [2, 4])}))
    np.testing.assert_allclose(values, [[[1, 2], [-1, -1]], [[3, 4], [5, 6]]])
    assert lengths.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("column", "name", "spec"),
    [
        (lambda: fc.numeric_column("x", (2,), 1.0), "x", {"x": tf.FixedLenFeature((2,), tf.float32, (1.0, 1.0))}),
        (lambda: fc.bucketized_column(fc.numeric_column("x"), [1.0]), "x_bucketized", {"x": tf.FixedLenFeature((1,), tf.float32)}),
        (lambda: ids(), "i", {"i": tf.VarLenFeature(tf.int64)}),
        (lambda: fc.indicator_column(ids()), "i_indicator", {"i": tf.VarLenFeature(tf.int64)}),
        (lambda: embedding(), "i_embedding", {"i": tf.VarLenFeature(tf.int64)}),
        (
            lambda: fc.weighted_categorical_column(ids(), "w"),
            "i_weighted_by_w",
            {"i": tf.VarLenFeature(tf.int64), "w": tf.VarLenFeature(tf.float32)},
        ),
        (lambda: fc.categorical_column_with_hash_bucket("h", 5), "h", {"h": tf.VarLenFeature(tf.string)}),
        (lambda: fc.crossed_column(["b", "a"], 5), "a_X_b", {"a": tf.VarLenFeature(tf.string), "b": tf.VarLenFeature(tf.string)}),
        (lambda: fc.categorical_column_with_vocabulary_list("v", ["x"]), "v", {"v": tf.VarLenFeature(tf.string)}),
    ],
)
def test_columns_have_names_and_parse_specs(column, name, spec):
    made = column()
    assert made.name == name
    assert fc.make_parse_example_spec([made]) == spec


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fc.numeric_column("x", dtype=tf.string), ValueError, "dtype must be convertible to float"),
        (lambda: fc.numeric_column("x", default_value="a"), (TypeError, ValueError), "default_value"),
        (lambda: fc.numeric_column("x", normalizer_fn=3), TypeError, "must be a callable"),
        (lambda: fc.bucketized_column(ids(), [1]), ValueError, "must be a column generated with numeric_column"),
        (lambda: fc.bucketized_column(fc.numeric_column("x", shape=(2, 2)), [1]), ValueError, "one-dimensional"),
        (lambda: ids(buckets=0), ValueError, "num_buckets"),
        (lambda: ids(default_value=5), ValueError, "default_value 5 not in range"),
        (lambda: fc.categorical_column_with_hash_bucket("h", None), ValueError, "hash_bucket_size must be set"),
        (lambda: fc.categorical_column_with_hash_bucket("h", 0), ValueError, "at least 1"),
        (lambda: fc.categorical_column_with_vocabulary_list("v", []), ValueError, "must be non-empty"),
        (
            lambda: fc.categorical_column_with_vocabulary_list("v", ["a"], default_value=0, num_oov_buckets=1),
            ValueError,
            "Can't specify both",
        ),
        (lambda: fc.categorical_column_with_vocabulary_list("v", ["a"], num_oov_buckets=-1), ValueError, "Invalid num_oov_buckets"),
        (lambda: fc.categorical_column_with_vocabulary_file("v", ""), ValueError, "Missing vocabulary_file"),
        (lambda: fc.embedding_column(ids(), 2, initializer=3), ValueError, "initializer must be callable"),
        (lambda: fc.embedding_column(ids(), 2, ckpt_to_load_from="x"), ValueError, "Must specify both"),
        (lambda: fc.shared_embedding_columns([ids("a"), ids("b", 4)], 2), ValueError, "same number of buckets|num_buckets"),
        (lambda: fc.shared_embedding_columns([ids("a")], 0), ValueError, "Invalid dimension"),
        (lambda: fc.weighted_categorical_column(ids(), "w", tf.string), ValueError, "is not convertible to float"),
        (lambda: fc.crossed_column(["a", fc.numeric_column("x")], 3), ValueError, "Unsupported key type"),
        (
            lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("h", 3)], 3),
            ValueError,
            "categorical_column_with_hash_bucket is not supported",
        ),
        (lambda: fc.crossed_column(["a", "b"], 0), ValueError, "hash_bucket_size must be > 1"),
        (lambda: fc.input_layer({"i": [[0]]}, [ids()]), ValueError, "must be a _DenseColumn"),
        (lambda: fc.input_layer({}, []), ValueError, "must not be empty"),
        (
            lambda: fc.input_layer({"x": [[1.0]]}, [fc.numeric_column("x"), fc.numeric_column("x")]),
            ValueError,
            "Duplicate feature column name",
        ),
        (lambda: fc.make_parse_example_spec([3]), ValueError, "must be _?FeatureColumn"),
    ],
)
def test_mistakes_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()
