"""What every column gives and refuses, in layers, models and sequences; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed, plain

import everflow as tf
from everflow import internals

fc = tf.feature_column
TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)
old = internals.module("python.feature_column.feature_column")
new = internals.module("python.feature_column.feature_column_v2")
serial = internals.module("python.feature_column.serialization")
sequences = internals.module("python.feature_column.sequence_feature_column")


def ids(key="i", buckets=3, **kwargs):
    return fc.categorical_column_with_identity(key, buckets, **kwargs)


def words(key="w", **kwargs):
    return fc.categorical_column_with_vocabulary_list(key, ["a", "b", "c"], **kwargs)


def number(key="x", **kwargs):
    return fc.numeric_column(key, **kwargs)


def table(*rows):
    places = [[r, c] for r, row in enumerate(rows) for c in range(len(row))]
    return tf.SparseTensor(places, [x for row in rows for x in row], [len(rows), max(map(len, rows))])


def embedding(column=None, **kwargs):
    return fc.embedding_column(column or ids(), 2, initializer=tf.constant_initializer(TABLE), **kwargs)


def dense(columns, features):
    return fc.input_layer(features, columns)


def layer(columns, features):
    return tf.keras.layers.DenseFeatures(columns)(features)


def steps(columns, features):
    return list(sequences.SequenceFeatures(columns)(features))


def transformed(column, features):
    return new._transform_features_v2(features, [column], None)[column]


def names(made, collection=tf.GraphKeys.GLOBAL_VARIABLES):
    made()
    return [v.name for v in tf.get_collection(collection)]


def config(column):
    return serial.serialize_feature_column(column)


def again(column):
    return serial.deserialize_feature_column(config(column)) == column


def lines(*words):
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("\n".join(words) + "\n")
    return path


def linear(columns, features, **kwargs):
    variables = {}
    out = fc.linear_model(features, columns, cols_to_vars=variables, **kwargs)
    weights = [v for c in sorted([k for k in variables if k != "bias"], key=lambda c: c.name) for v in variables[c]] + list(
        variables["bias"]
    )
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for i, w in enumerate(weights):
            session.run(w.assign(np.arange(np.prod(w.shape.as_list())).reshape(w.shape.as_list()) + i))
        return plain(session.run(out))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: transformed(number(), {"x": [1, 2]}), [[1.0], [2.0]]),
        (lambda: transformed(number(dtype=tf.float64), {"x": tf.constant([[1.5]], tf.float64)}), [[1.5]]),
        (lambda: transformed(number(normalizer_fn=lambda t: t * 2), {"x": [[1.0]]}), [[2.0]]),
        (
            lambda: transformed(fc.bucketized_column(number(), [1.0, 3.0]), {"x": [[0.5], [1.0], [2.0], [3.0], [9.0]]}),
            [[0], [1], [1], [2], [2]],
        ),
        (lambda: transformed(fc.bucketized_column(number(), (1, 3)), {"x": [[0.5], [3.5]]}), [[0], [2]]),
        (
            lambda: transformed(fc.categorical_column_with_hash_bucket("h", 10), {"h": [["a", ""], ["b", "a"]]}),
            {"indices": [[0, 0], [1, 0], [1, 1]], "values": [9, 2, 9], "dense_shape": [2, 2]},
        ),
        (
            lambda: transformed(fc.categorical_column_with_hash_bucket("h", 10, tf.int64), {"h": [[7, -1], [8, 7]]}),
            {"indices": [[0, 0], [1, 0], [1, 1]], "values": [8, 7, 8], "dense_shape": [2, 2]},
        ),
        (
            lambda: transformed(fc.categorical_column_with_hash_bucket("h", 10, tf.int32), {"h": table([7], [8, 7])}),
            {"indices": [[0, 0], [1, 0], [1, 1]], "values": [8, 7, 8], "dense_shape": [2, 2]},
        ),
        (
            lambda: transformed(words(), {"w": [["c", "a"], ["", "z"]]}),
            {"indices": [[0, 0], [0, 1], [1, 1]], "values": [2, 0, -1], "dense_shape": [2, 2]},
        ),
        (
            lambda: transformed(words(default_value=2), {"w": table(["c", "z"])}),
            {"indices": [[0, 0], [0, 1]], "values": [2, 2], "dense_shape": [1, 2]},
        ),
        (
            lambda: transformed(words(num_oov_buckets=2), {"w": table(["c", "z", "y", "a"])}),
            {"indices": [[0, 0], [0, 1], [0, 2], [0, 3]], "values": [2, 4, 4, 0], "dense_shape": [1, 4]},
        ),
        (
            lambda: transformed(fc.categorical_column_with_vocabulary_list("w", [10, 20], dtype=tf.int64), {"w": table([20, 30, 10])}),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [1, -1, 0], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(
                fc.categorical_column_with_vocabulary_list("w", [10, 20], dtype=tf.int32), {"w": tf.constant([[20, 30, -1]])}
            ),
            {"indices": [[0, 0], [0, 1]], "values": [1, -1], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(fc.categorical_column_with_vocabulary_file("w", lines("a", "b", "c")), {"w": [["c", "z", "a"]]}),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [2, -1, 0], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(fc.categorical_column_with_vocabulary_file("w", lines("a", "b", "c"), 2), {"w": [["c", "z", "b"]]}),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [-1, -1, 1], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(
                fc.categorical_column_with_vocabulary_file("w", lines("a", "b", "c"), default_value=1), {"w": [["c", "z", "b"]]}
            ),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [2, 1, 1], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(
                fc.categorical_column_with_vocabulary_file("w", lines("a", "b", "c"), num_oov_buckets=2), {"w": [["c", "z", "y"]]}
            ),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [2, 4, 4], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(fc.categorical_column_with_vocabulary_file("w", lines("1", "22"), dtype=tf.int64), {"w": [[22, 1, 3]]}),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [1, 0, -1], "dense_shape": [1, 3]},
        ),
        (
            lambda: transformed(ids(), {"i": [[0, 2], [-1, 1]]}),
            {"indices": [[0, 0], [0, 1], [1, 1]], "values": [0, 2, 1], "dense_shape": [2, 2]},
        ),
        (lambda: transformed(ids(), {"i": tf.constant([[0, 2]], tf.int32)}).values.dtype, "int64"),
        (
            lambda: transformed(ids(default_value=1), {"i": table([0, 5, -3])}),
            {"indices": [[0, 0], [0, 1], [0, 2]], "values": [0, 1, 1], "dense_shape": [1, 3]},
        ),
        (lambda: transformed(ids(), {"i": [2, 0]}), {"indices": [[0, 0], [1, 0]], "values": [2, 0], "dense_shape": [2, 1]}),
        (
            lambda: list(transformed(fc.weighted_categorical_column(ids(), "w"), {"i": table([0, 1]), "w": table([0.5, 2.0])})),
            [
                {"indices": [[0, 0], [0, 1]], "values": [0, 1], "dense_shape": [1, 2]},
                {"indices": [[0, 0], [0, 1]], "values": [0.5, 2.0], "dense_shape": [1, 2]},
            ],
        ),
        (
            lambda: list(transformed(fc.weighted_categorical_column(ids(), "w"), {"i": [[0, 1]], "w": [[0.5, 0.0]]})),
            [
                {"indices": [[0, 0], [0, 1]], "values": [0, 1], "dense_shape": [1, 2]},
                {"indices": [[0, 0]], "values": [0.5], "dense_shape": [1, 2]},
            ],
        ),
        (
            lambda: list(
                transformed(
                    fc.weighted_categorical_column(ids(), "w", tf.int64), {"i": table([0, 1]), "w": tf.cast(table([3, 2]), tf.int64)}
                )
            ),
            [
                {"indices": [[0, 0], [0, 1]], "values": [0, 1], "dense_shape": [1, 2]},
                {"indices": [[0, 0], [0, 1]], "values": [3.0, 2.0], "dense_shape": [1, 2]},
            ],
        ),
        (
            lambda: transformed(fc.crossed_column(["a", "b"], 100), {"a": [["p", "q"]], "b": [["r"]]}),
            {"indices": [[0, 0], [0, 1]], "values": [26, 72], "dense_shape": [1, 2]},
        ),
        (
            lambda: transformed(fc.crossed_column(["a", "b"], 100, hash_key=5), {"a": [["p", "q"]], "b": [["r"]]}),
            {"indices": [[0, 0], [0, 1]], "values": [31, 90], "dense_shape": [1, 2]},
        ),
        (
            lambda: transformed(fc.crossed_column([ids(), "b"], 50), {"i": [[1, 2]], "b": [["r"]]}),
            {"indices": [[0, 0], [0, 1]], "values": [39, 21], "dense_shape": [1, 2]},
        ),
        (
            lambda: transformed(
                fc.crossed_column([fc.crossed_column(["a", "b"], 10), "c"], 50), {"a": [["p"]], "b": [["r"]], "c": [["s"]]}
            ),
            {"indices": [[0, 0]], "values": [1], "dense_shape": [1, 1]},
        ),
        (
            lambda: transformed(
                fc.crossed_column([fc.bucketized_column(number(), [0.0]), "c"], 50), {"x": [[-1.0], [1.0]], "c": [["s"], ["s"]]}
            ),
            {"indices": [[0, 0], [1, 0]], "values": [17, 27], "dense_shape": [2, 1]},
        ),
        (lambda: transformed(fc.indicator_column(words()), {"w": [["a", "a"], ["c", "z"]]}), [[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            lambda: transformed(
                fc.indicator_column(fc.weighted_categorical_column(ids(), "w")),
                {"i": table([0, 1], [1, 1]), "w": table([0.5, 2.0], [1.0, 4.0])},
            ),
            [[0.5, 2.0, 0.0], [0.0, 5.0, 0.0]],
        ),
    ],
)
def test_raw_features_become_what_a_column_asks_for(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                c.name
                for c in [
                    number(),
                    fc.bucketized_column(number(), [1.0]),
                    ids(),
                    words(),
                    fc.indicator_column(ids()),
                    embedding(),
                    fc.weighted_categorical_column(ids(), "w"),
                    fc.crossed_column(["b", ids()], 5),
                ]
            ],
            ["x", "x_bucketized", "i", "w", "i_indicator", "i_embedding", "i_weighted_by_w", "b_X_i"],
        ),
        (
            lambda: [
                c.num_buckets
                for c in [
                    fc.bucketized_column(number(shape=3), [1.0, 2.0]),
                    ids(),
                    words(num_oov_buckets=4),
                    fc.categorical_column_with_hash_bucket("h", 9),
                    fc.weighted_categorical_column(ids(), "w"),
                    fc.crossed_column(["a", "b"], 7),
                ]
            ],
            [9, 3, 7, 9, 3, 7],
        ),
        (lambda: [c._num_buckets for c in [fc.bucketized_column(number(shape=3), [1.0, 2.0]), ids(), words()]], [9, 3, 3]),
        (
            lambda: [
                c.variable_shape
                for c in [
                    number(shape=(2, 3)),
                    fc.bucketized_column(number(shape=3), [1.0, 2.0]),
                    fc.indicator_column(words()),
                    embedding(),
                ]
            ],
            [[2, 3], [3, 3], [1, 3], [2]],
        ),
        (
            lambda: [
                c._variable_shape
                for c in [
                    number(shape=(2, 3)),
                    fc.bucketized_column(number(shape=3), [1.0, 2.0]),
                    fc.indicator_column(words()),
                    embedding(),
                ]
            ],
            [[2, 3], [3, 3], [1, 3], [2]],
        ),
        (
            lambda: [list(map(str, c.parents)) for c in [number(), ids(), words(), fc.crossed_column(["a", "b"], 3)]],
            [["x"], ["i"], ["w"], ["a", "b"]],
        ),
        (
            lambda: [
                c.parents[0].name
                for c in [
                    fc.bucketized_column(number(), [1.0]),
                    fc.indicator_column(ids()),
                    embedding(),
                    fc.weighted_categorical_column(ids(), "w"),
                ]
            ],
            ["x", "i", "i", "i"],
        ),
        (lambda: fc.weighted_categorical_column(ids(), "w").parents[1], "w"),
        (lambda: [c._var_scope_name for c in [number(), embedding()]], ["x", "i_embedding"]),
        (lambda: [number("x y")._var_scope_name, number("a/b:c")._var_scope_name, number("x y").name], ["x y", "a/b:c", "x y"]),
        (
            lambda: repr(number(shape=2, default_value=1.5)),
            "NumericColumn(key='x', shape=(2,), default_value=(1.5, 1.5), dtype=tf.float32, normalizer_fn=None)",
        ),
        (lambda: number(shape=[2, 2], default_value=[[1, 2], [3, 4]]).default_value, [[1, 2], [3, 4]]),
        (lambda: number(shape=2, default_value=3, dtype=tf.int32).default_value, [3, 3]),
        (lambda: number(shape=2, default_value=3).default_value, [3, 3]),
        (lambda: number(shape=2, default_value=np.array([1.0, 2.0])).default_value, [1.0, 2.0]),
        (lambda: number(shape=tf.TensorShape([3]).as_list()).shape, [3]),
        (lambda: embedding().combiner, "mean"),
        (lambda: embedding().trainable, True),
        (
            lambda: [
                c._is_v2_column
                for c in [
                    number(),
                    ids(),
                    embedding(),
                    fc.crossed_column(["a", ids()], 3),
                    fc.indicator_column(ids()),
                    fc.weighted_categorical_column(ids(), "w"),
                    fc.bucketized_column(number(), [1.0]),
                ]
            ],
            [True, True, True, True, True, True, True],
        ),
        (lambda: fc.embedding_column(old._categorical_column_with_identity("i", 3), 2)._is_v2_column, False),
        (lambda: fc.crossed_column(["a", old._categorical_column_with_identity("i", 3)], 3)._is_v2_column, False),
        (
            lambda: fc.make_parse_example_spec([words(), embedding(), fc.bucketized_column(number("y"), [1.0])]).keys() >= {"w", "i", "y"},
            True,
        ),
        (lambda: sorted(new.make_parse_example_spec_v2([words(), embedding()])), ["i", "w"]),
    ],
)
def test_facts_of_columns(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: old._numeric_column("x", shape=2, default_value=1).default_value, [1, 1]),
        (lambda: old._numeric_column("x").dtype, "float32"),
        (lambda: old._categorical_column_with_hash_bucket("h", 5)._num_buckets, 5),
        (lambda: old._categorical_column_with_vocabulary_file("w", lines("a", "b"))._num_buckets, 2),
        (lambda: old._categorical_column_with_vocabulary_list("w", ["a"], num_oov_buckets=2)._num_buckets, 3),
        (lambda: old._categorical_column_with_identity("i", 4, default_value=1)._num_buckets, 4),
        (lambda: old._crossed_column(["a", "b"], 6)._num_buckets, 6),
        (lambda: old._embedding_column(old._categorical_column_with_identity("i", 4), 3)._variable_shape, [3]),
        (lambda: old._embedding_column(old._categorical_column_with_identity("i", 4), 3).combiner, "mean"),
        (lambda: old._embedding_column(old._categorical_column_with_identity("i", 4), 3).trainable, True),
        (lambda: old._indicator_column(old._categorical_column_with_identity("i", 4))._variable_shape, [1, 4]),
        (lambda: old._weighted_categorical_column(old._categorical_column_with_identity("i", 4), "w").name, "i_weighted_by_w"),
        (
            lambda: dense(
                [old._numeric_column("x"), old._indicator_column(old._categorical_column_with_identity("i", 3))], {"x": [[2.0]], "i": [[1]]}
            ),
            [[0.0, 1.0, 0.0, 2.0]],
        ),
        (lambda: dense([old._bucketized_column(old._numeric_column("x"), [1.0])], {"x": [[2.0]]}), [[0.0, 1.0]]),
    ],
)
def test_the_older_functions_make_the_same_columns(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: dense([number("b"), number("a", shape=2)], {"a": [[1.0, 2.0]], "b": [[3.0]]}), [[1.0, 2.0, 3.0]]),
        (lambda: dense((c for c in [number("b"), number("a")]), {"a": [[1.0]], "b": [[3.0]]}), [[1.0, 3.0]]),
        (lambda: dense(number("a"), {"a": [[1.0]]}), [[1.0]]),
        (lambda: layer([number("a", shape=(2, 2))], {"a": [[[1.0, 2.0], [3.0, 4.0]]]}), [[1.0, 2.0, 3.0, 4.0]]),
        (lambda: dense([embedding(combiner="sum")], {"i": [[0, 2], [1, -1]]}), [[4.0, 6.0], [2.0, 3.0]]),
        (lambda: dense([embedding(combiner="sqrtn")], {"i": [[0, 2], [1, -1]]}), [[2.8284, 4.2426], [2.0, 3.0]]),
        (lambda: dense([embedding(max_norm=1.0)], {"i": [[1], [2]]}), [[0.5547, 0.83205], [0.6247, 0.78087]]),
        (lambda: dense([embedding(fc.weighted_categorical_column(ids(), "w"))], {"i": [[0, 2]], "w": [[1.0, 3.0]]}), [[3.0, 4.0]]),
        (lambda: layer([embedding(fc.weighted_categorical_column(ids(), "w"))], {"i": [[0, 2]], "w": [[1.0, 3.0]]}), [[3.0, 4.0]]),
        (
            lambda: dense(
                fc.shared_embedding_columns([ids("a"), ids("b")], 2, initializer=tf.constant_initializer(TABLE)), {"a": [[1]], "b": [[2]]}
            ),
            [[2.0, 3.0, 4.0, 5.0]],
        ),
        (
            lambda: dense(
                fc.shared_embedding_columns(
                    [ids("b"), ids("a")], 2, combiner="sum", max_norm=2.0, initializer=tf.constant_initializer(TABLE)
                ),
                {"a": [[1, 1]], "b": [[2]]},
            ),
            [[2.2188, 3.3282, 1.2494, 1.5617]],
        ),
        (lambda: [c.name for c in fc.shared_embedding_columns([ids("b"), ids("a")], 2)], ["b_shared_embedding", "a_shared_embedding"]),
        (
            lambda: [
                c.shared_embedding_collection_name
                for c in fc.shared_embedding_columns([ids("b"), fc.weighted_categorical_column(ids("a"), "w")], 2)
            ],
            ["a_weighted_by_w_b_shared_embedding", "a_weighted_by_w_b_shared_embedding"],
        ),
        (
            lambda: [
                c.shared_embedding_collection_name
                for c in fc.shared_embedding_columns([ids("b"), ids("a")], 2, shared_embedding_collection_name="s")
            ],
            ["s", "s"],
        ),
        (
            lambda: names(lambda: dense([embedding(), number()], {"i": [[1]], "x": [[1.0]]})),
            ["input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: names(lambda: dense([embedding()], {"i": [[1]]}), tf.GraphKeys.TRAINABLE_VARIABLES),
            ["input_layer/i_embedding/embedding_weights:0"],
        ),
        (lambda: names(lambda: dense([embedding(trainable=False)], {"i": [[1]]}), tf.GraphKeys.TRAINABLE_VARIABLES), []),
        (lambda: names(lambda: fc.input_layer({"i": [[1]]}, [embedding()], trainable=False), tf.GraphKeys.TRAINABLE_VARIABLES), []),
        (
            lambda: names(lambda: fc.input_layer({"i": [[1]]}, [embedding()], weight_collections=["mine"]), "mine"),
            ["input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: names(lambda: fc.input_layer({"i": [[1]]}, [embedding()], weight_collections=["mine"])),
            ["input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: names(lambda: dense([embedding()], {"i": [[1]]}), tf.GraphKeys.MODEL_VARIABLES),
            ["input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: names(lambda: layer([embedding(), number()], {"i": [[1]], "x": [[1.0]]})),
            ["dense_features/i_embedding/embedding_weights:0"],
        ),
        (lambda: names(lambda: layer([embedding(trainable=False)], {"i": [[1]]}), tf.GraphKeys.TRAINABLE_VARIABLES), []),
        (lambda: names(lambda: fc.shared_embedding_columns([ids("b"), ids("a")], 2)), []),
        (
            lambda: names(
                lambda: dense(fc.shared_embedding_columns([ids("b"), ids("a")], 2, trainable=False), {"a": [[1]], "b": [[1]]}),
                tf.GraphKeys.TRAINABLE_VARIABLES,
            ),
            [],
        ),
        (
            lambda: names(lambda: dense(fc.shared_embedding_columns([ids("b"), ids("a")], 2), {"a": [[1]], "b": [[1]]})),
            ["input_layer/a_b_shared_embedding/embedding_weights:0"],
        ),
        (
            lambda: names(lambda: (dense([embedding()], {"i": [[1]]}), dense([embedding()], {"i": [[1]]}))),
            ["input_layer/i_embedding/embedding_weights:0", "input_layer_1/i_embedding/embedding_weights:0"],
        ),
    ],
)
def test_dense_layers(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: linear([number(shape=2)], {"x": [[1.0, 2.0], [3.0, 4.0]]}), [[3.0], [5.0]]),
        (lambda: linear([ids(), number()], {"i": [[0, 2], [1, 1]], "x": [[1.0], [2.0]]}), [[5.0], [6.0]]),
        (lambda: linear([ids()], {"i": [[0, 2], [1, 2]]}, sparse_combiner="mean"), [[2.0], [2.5]]),
        (lambda: linear([ids()], {"i": [[0, 2], [1, 2]]}, sparse_combiner="sqrtn"), [[2.4142], [3.1213]]),
        (lambda: linear([ids()], {"i": [[0, 2], [1, 2]]}, units=2), [[5.0, 8.0], [7.0, 10.0]]),
        (lambda: linear([fc.weighted_categorical_column(ids(), "w")], {"i": table([0, 2]), "w": table([2.0, 3.0])}), [[7.0]]),
        (lambda: linear([fc.bucketized_column(number(shape=2), [0.0])], {"x": [[-1.0, 1.0], [1.0, 1.0]]}), [[4.0], [5.0]]),
        (lambda: linear([fc.crossed_column(["a", "b"], 5)], {"a": [["p", "q"]], "b": [["r"]]}), [[4.0]]),
        (lambda: linear([fc.indicator_column(ids())], {"i": [[0, 2], [1, 2]]}), [[3.0], [4.0]]),
        (
            lambda: names(lambda: fc.linear_model({"i": [[1]], "x": [[1.0]]}, [ids(), number()])),
            ["linear_model/i/weights:0", "linear_model/x/weights:0", "linear_model/bias_weights:0"],
        ),
        (lambda: names(lambda: fc.linear_model({"i": [[1]]}, [ids()], trainable=False), tf.GraphKeys.TRAINABLE_VARIABLES), []),
        (
            lambda: names(lambda: fc.linear_model({"i": [[1]]}, [ids()], weight_collections=["mine"]), "mine"),
            ["linear_model/i/weights:0", "linear_model/bias_weights:0"],
        ),
        (lambda: fc.linear_model({"i": [[1]]}, [ids()]).op.name, "linear_model_1/linear_model/weighted_sum"),
        (
            lambda: names(lambda: new.LinearModel([ids(), number()], units=2)({"i": [[1]], "x": [[1.0]]})),
            ["linear_model/i/weights:0", "linear_model/x/weights:0", "linear_model/bias_weights:0"],
        ),
        (lambda: names(lambda: new.LinearModel([ids()], trainable=False)({"i": [[1]]}), tf.GraphKeys.TRAINABLE_VARIABLES), []),
        (
            lambda: [
                v.shape
                for v in (lambda m: (m({"i": [[1]], "x": [[1.0]]}), m.variables)[1])(new.LinearModel([ids(), number(shape=1)], units=2))
            ],
            [[3, 2], [1, 2], [2]],
        ),
        (lambda: (lambda m: (m({"i": [[1]]}), m.bias.name)[1])(new.LinearModel([ids()])), "linear_model/bias_weights:0"),
        (
            lambda: new.LinearModel([ids(), number(shape=2)], units=2, sparse_combiner="mean")({"i": [[0, 1]], "x": [[1.0, 2.0]]}),
            [[0.0, 0.0]],
        ),
    ],
)
def test_linear_models(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: steps([fc.sequence_numeric_column("x")], {"x": table([1.0, 2.0], [3.0])}), [[[[1.0], [2.0]], [[3.0], [0.0]]], [2, 1]]),
        (
            lambda: steps([fc.sequence_numeric_column("x", shape=2)], {"x": table([1.0, 2.0, 3.0, 4.0], [5.0, 6.0])}),
            [[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps([fc.sequence_numeric_column("x", default_value=9.0)], {"x": table([1.0, 2.0], [3.0])}),
            [[[[1.0], [2.0]], [[3.0], [9.0]]], [2, 1]],
        ),
        (
            lambda: steps([fc.sequence_numeric_column("x", normalizer_fn=lambda t: t * 10)], {"x": table([1.0, 2.0], [3.0])}),
            [[[[10.0], [20.0]], [[30.0], [0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.embedding_column(fc.sequence_categorical_column_with_identity("i", 3), 2, initializer=tf.constant_initializer(TABLE))],
                {"i": table([0, 2], [1])},
            ),
            [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps([fc.indicator_column(fc.sequence_categorical_column_with_identity("i", 3))], {"i": table([0, 2], [1])}),
            [[[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.indicator_column(fc.sequence_categorical_column_with_identity("i", 3, default_value=1))], {"i": table([0, 7], [1])}
            ),
            [[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps([fc.indicator_column(fc.sequence_categorical_column_with_hash_bucket("h", 4))], {"h": table(["a", "b"], ["c"])}),
            [[[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.indicator_column(fc.sequence_categorical_column_with_hash_bucket("h", 4, tf.int64))],
                {"h": tf.cast(table([3, 4], [5]), tf.int64)},
            ),
            [[[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.indicator_column(fc.sequence_categorical_column_with_vocabulary_list("w", ["a", "b"], num_oov_buckets=1))],
                {"w": table(["a", "z"], ["b"])},
            ),
            [[[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.indicator_column(fc.sequence_categorical_column_with_vocabulary_list("w", ["a", "b"], default_value=0))],
                {"w": table(["a", "z"], ["b"])},
            ),
            [[[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.indicator_column(fc.sequence_categorical_column_with_vocabulary_file("w", lines("a", "b")))],
                {"w": table(["a", "z"], ["b"])},
            ),
            [[[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.indicator_column(fc.sequence_categorical_column_with_vocabulary_file("w", lines("a", "b"), num_oov_buckets=1))],
                {"w": table(["a", "z"], ["b"])},
            ),
            [[[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: steps(
                [fc.sequence_numeric_column("x"), fc.indicator_column(fc.sequence_categorical_column_with_identity("i", 2))],
                {"x": table([1.0, 2.0], [3.0]), "i": table([0, 1], [1])},
            ),
            [[[[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]], [[0.0, 1.0, 3.0], [0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (lambda: fc.sequence_numeric_column("x", shape=2).variable_shape, [2]),
        (lambda: fc.sequence_numeric_column("x", shape=2).name, "x"),
        (lambda: fc.sequence_numeric_column("x").default_value, 0.0),
        (lambda: repr(fc.sequence_numeric_column("x").parse_example_spec), "{'x': VarLenFeature(dtype=tf.float32)}"),
        (lambda: fc.sequence_categorical_column_with_identity("i", 3).name, "i"),
        (lambda: fc.sequence_categorical_column_with_identity("i", 3).num_buckets, 3),
        (lambda: repr(fc.sequence_categorical_column_with_identity("i", 3).parse_example_spec), "{'i': VarLenFeature(dtype=tf.int64)}"),
        (lambda: repr(fc.sequence_categorical_column_with_hash_bucket("i", 3).parse_example_spec), "{'i': VarLenFeature(dtype=tf.string)}"),
        (lambda: fc.sequence_categorical_column_with_identity("i", 3).parents[0].name, "i"),
        (lambda: sequences.SequenceFeatures([fc.sequence_numeric_column("x", shape=2)]).compute_output_shape((4, 5, 9)), [4, 5, 2]),
    ],
)
def test_sequences(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: config(number(shape=2, default_value=1.0)),
            {
                "class_name": "NumericColumn",
                "config": {"key": "x", "shape": [2], "default_value": [1.0, 1.0], "dtype": "float32", "normalizer_fn": None},
            },
        ),
        (
            lambda: config(fc.bucketized_column(number(), [1.0])),
            {
                "class_name": "BucketizedColumn",
                "config": {
                    "source_column": {
                        "class_name": "NumericColumn",
                        "config": {"key": "x", "shape": [1], "default_value": None, "dtype": "float32", "normalizer_fn": None},
                    },
                    "boundaries": [1.0],
                },
            },
        ),
        (
            lambda: config(fc.crossed_column(["a", ids()], 5)),
            {
                "class_name": "CrossedColumn",
                "config": {
                    "keys": [
                        "a",
                        {"class_name": "IdentityCategoricalColumn", "config": {"key": "i", "number_buckets": 3, "default_value": None}},
                    ],
                    "hash_bucket_size": 5,
                    "hash_key": None,
                },
            },
        ),
        (
            lambda: config(words()),
            {
                "class_name": "VocabularyListCategoricalColumn",
                "config": {"key": "w", "vocabulary_list": ["a", "b", "c"], "dtype": "string", "default_value": -1, "num_oov_buckets": 0},
            },
        ),
        (
            lambda: config(fc.indicator_column(ids())),
            {
                "class_name": "IndicatorColumn",
                "config": {
                    "categorical_column": {
                        "class_name": "IdentityCategoricalColumn",
                        "config": {"key": "i", "number_buckets": 3, "default_value": None},
                    }
                },
            },
        ),
        (
            lambda: config(fc.weighted_categorical_column(ids(), "w")),
            {
                "class_name": "WeightedCategoricalColumn",
                "config": {
                    "categorical_column": {
                        "class_name": "IdentityCategoricalColumn",
                        "config": {"key": "i", "number_buckets": 3, "default_value": None},
                    },
                    "weight_feature_key": "w",
                    "dtype": "float32",
                },
            },
        ),
        (lambda: config("x"), "x"),
        (
            lambda: [
                again(c)
                for c in [
                    number(shape=2, default_value=1.0),
                    fc.bucketized_column(number(), [1.0]),
                    ids(),
                    words(),
                    fc.indicator_column(ids()),
                    fc.weighted_categorical_column(ids(), "w"),
                    fc.crossed_column(["a", ids()], 5),
                    fc.categorical_column_with_hash_bucket("h", 3),
                    fc.sequence_numeric_column("x"),
                    fc.sequence_categorical_column_with_identity("i", 3),
                ]
            ],
            [True, True, True, True, True, True, True, True, True, True],
        ),
        (lambda: serial.deserialize_feature_column("x"), "x"),
        (lambda: serial._column_name_with_class_name(ids()), "IdentityCategoricalColumn:i"),
        (
            lambda: (lambda cs: cs[0].categorical_column is cs[1])(
                serial.deserialize_feature_columns(serial.serialize_feature_columns([fc.indicator_column(ids()), ids()]))
            ),
            True,
        ),
        (lambda: serial.serialize_feature_columns([ids()])[0]["class_name"], "IdentityCategoricalColumn"),
        (lambda: serial.deserialize_feature_column(config(embedding())).dimension, 2),
        (lambda: type(serial.deserialize_feature_column(config(embedding())).initializer).__name__, "Constant"),
        (
            lambda: (lambda l: type(l).from_config(l.get_config())._feature_columns == l._feature_columns)(
                tf.keras.layers.DenseFeatures([number(), fc.indicator_column(ids())])
            ),
            True,
        ),
        (
            lambda: sorted(tf.keras.layers.DenseFeatures([number()], name="d").get_config()),
            ["dtype", "feature_columns", "name", "trainable"],
        ),
        (lambda: tf.keras.layers.DenseFeatures([number(shape=2), embedding()]).compute_output_shape((7, 9)), [7, 4]),
    ],
)
def test_columns_survive_as_data(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: number(shape=1.5), TypeError, "shape dimensions must be integer. shape: (1.5,), key: x"),
        (lambda: number(shape=[0]), ValueError, "shape dimensions must be greater than 0. shape: (0,), key: x"),
        (lambda: number(default_value=[1.0, 2.0]), ValueError, "The shape of default_value must be equal to given shape."),
        (lambda: number(default_value="a"), TypeError, "default_value must be compatible with dtype. default_value:"),
        (lambda: number(default_value=1.5, dtype=tf.int32), TypeError, "default_value must be compatible with dtype. default_value: 1.5,"),
        (
            lambda: number(shape=2, default_value=[1.5, 2], dtype=tf.int32),
            TypeError,
            "default_value must be compatible with dtype. default_value: [1.5, 2],",
        ),
        (lambda: number(normalizer_fn="a"), TypeError, "normalizer_fn must be a callable. Given: a"),
        (lambda: number(dtype=tf.string), ValueError, "dtype must be convertible to float. dtype: <dtype: 'string'>, key: x"),
        (lambda: number(3), ValueError, "key must be a string. Got: type <class 'int'>. Given key: 3."),
        (lambda: fc.bucketized_column(number(), []), ValueError, "boundaries must not be empty."),
        (lambda: fc.bucketized_column(number(), [1, 1]), ValueError, "boundaries must be a sorted list."),
        (lambda: fc.bucketized_column(number(), [3, 1]), ValueError, "boundaries must be a sorted list."),
        (lambda: fc.bucketized_column(number(), 1), ValueError, "boundaries must be a sorted list."),
        (lambda: fc.bucketized_column(number(), None), ValueError, "boundaries must not be empty."),
        (lambda: fc.bucketized_column("x", [1]), ValueError, "source_column must be a column generated with numeric_column()."),
        (lambda: fc.bucketized_column(number(shape=(2, 2)), [1]), ValueError, "source_column must be one-dimensional column. Given:"),
        (
            lambda: fc.categorical_column_with_hash_bucket("h", 0),
            ValueError,
            "hash_bucket_size must be at least 1. hash_bucket_size: 0, key: h",
        ),
        (
            lambda: fc.categorical_column_with_hash_bucket("h", 3, tf.float32),
            ValueError,
            "column_name: h dtype must be string or integer. dtype: <dtype:",
        ),
        (lambda: fc.categorical_column_with_hash_bucket(3, 3), ValueError, "key must be a string. Got: type <class 'int'>. Given key: 3."),
        (lambda: fc.categorical_column_with_vocabulary_file("w", ""), ValueError, "Missing vocabulary_file in w."),
        (lambda: fc.categorical_column_with_vocabulary_file("w", "/none/such"), ValueError, "vocabulary_file in w does not exist."),
        (
            lambda: fc.categorical_column_with_vocabulary_file("w", lines("a"), vocabulary_size=0),
            ValueError,
            "Invalid vocabulary_size in w.",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_file("w", lines("a"), num_oov_buckets=-1),
            ValueError,
            "Invalid num_oov_buckets -1 in w.",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_file("w", lines("a"), num_oov_buckets=1, default_value=0),
            ValueError,
            "Can't specify both num_oov_buckets and default_value in w.",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_file("w", lines("a"), dtype=tf.float32),
            ValueError,
            "column_name: w dtype must be string or integer. dtype: <dtype:",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_file(3, lines("a")),
            ValueError,
            "key must be a string. Got: type <class 'int'>. Given key: 3.",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list("w", None),
            ValueError,
            "vocabulary_list None must be non-empty, column_name: w",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list("w", ["a", "a"]),
            ValueError,
            "Duplicate keys in vocabulary_list ['a', 'a'], column_name: w",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list("w", ["a"], dtype=tf.int64),
            ValueError,
            "dtype <dtype: 'int64'> and vocabulary dtype <dtype: 'string'> do not",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list("w", [1.5]),
            ValueError,
            "column_name: w vocabulary dtype must be string or integer. dtype:",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list("w", ["a"], num_oov_buckets=-1),
            ValueError,
            "Invalid num_oov_buckets -1 in w.",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list("w", ["a"], num_oov_buckets=1, default_value=0),
            ValueError,
            "Can't specify both num_oov_buckets and default_value in w.",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_list(3, ["a"]),
            ValueError,
            "key must be a string. Got: type <class 'int'>. Given key: 3.",
        ),
        (lambda: ids(buckets=0), ValueError, "num_buckets 0 < 1, column_name i"),
        (lambda: ids(default_value=3), ValueError, "default_value 3 not in range [0, 3), column_name i"),
        (lambda: ids(default_value=-1), ValueError, "default_value -1 not in range [0, 3), column_name i"),
        (lambda: ids(3), ValueError, "key must be a string. Got: type <class 'int'>. Given key: 3."),
        (lambda: fc.weighted_categorical_column(ids(), "w", None), ValueError, "dtype None is not convertible to float."),
        (lambda: fc.weighted_categorical_column(ids(), "w", tf.bool), ValueError, "dtype <dtype: 'bool'> is not convertible to float."),
        (
            lambda: fc.make_parse_example_spec([fc.weighted_categorical_column(ids(), "i")]),
            ValueError,
            "Parse config VarLenFeature(dtype=tf.int64) already exists for i.",
        ),
        (
            lambda: fc.make_parse_example_spec([number(), number(shape=2)]),
            ValueError,
            "feature_columns contain different parse_spec for key x. Given",
        ),
        (lambda: fc.make_parse_example_spec(["x"]), ValueError, "All feature_columns must be _FeatureColumn instances. Given: x"),
        (lambda: new.make_parse_example_spec_v2(["x"]), ValueError, "All feature_columns must be FeatureColumn instances. Given: x"),
        (lambda: fc.embedding_column(ids(), None), ValueError, "Invalid dimension None."),
        (lambda: fc.embedding_column(ids(), 0), ValueError, "Invalid dimension 0."),
        (
            lambda: fc.embedding_column(ids(), 2, initializer="a"),
            ValueError,
            "initializer must be callable if specified. Embedding of column_name:",
        ),
        (
            lambda: fc.embedding_column(ids(), 2, tensor_name_in_ckpt="a"),
            ValueError,
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or",
        ),
        (lambda: fc.crossed_column([], 3), ValueError, "keys must be a list with length > 1. Given: []"),
        (lambda: fc.crossed_column(["a"], 3), ValueError, "keys must be a list with length > 1. Given: ['a']"),
        (lambda: fc.crossed_column(["a", "b"], None), ValueError, "hash_bucket_size must be > 1. hash_bucket_size: None"),
        (lambda: fc.crossed_column(["a", 3], 3), ValueError, "Unsupported key type. All keys must be either string, or categorical"),
        (
            lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("h", 3)], 3),
            ValueError,
            "categorical_column_with_hash_bucket is not supported for crossing.",
        ),
        (
            lambda: fc.shared_embedding_columns([ids("a"), ids("b", 4)], 2),
            ValueError,
            "To use shared_embedding_column, all categorical_columns must have the",
        ),
        (
            lambda: fc.shared_embedding_columns([ids("a"), words()], 2),
            ValueError,
            "To use shared_embedding_column, all categorical_columns must have the",
        ),
        (lambda: fc.shared_embedding_columns([ids("a")], None), ValueError, "Invalid dimension None."),
        (
            lambda: fc.shared_embedding_columns([ids("a")], 2, ckpt_to_load_from="x"),
            ValueError,
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or",
        ),
        (lambda: fc.shared_embedding_columns([ids("a")], 2, initializer=3), ValueError, "initializer must be callable if specified."),
        (lambda: dense([], {}), ValueError, "feature_columns must not be empty."),
        (lambda: dense({"x": number()}, {"x": [[1.0]]}), ValueError, "Expected feature_columns to be iterable, found dict."),
        (lambda: dense(["x"], {"x": [[1.0]]}), ValueError, "Items of feature_columns must be a _FeatureColumn. Given (type <class"),
        (lambda: dense([ids()], {"i": [[1]]}), ValueError, "Items of feature_columns must be a _DenseColumn. You can wrap a"),
        (lambda: dense([number(), number()], {"x": [[1.0]]}), ValueError, "Duplicate feature column name found for columns:"),
        (lambda: dense([number()], {"y": [[1.0]]}), ValueError, "Feature x is not in features dictionary."),
        (lambda: dense([number()], {"x": 1.0}), ValueError, "Feature (key: x) cannot have rank 0. Given:"),
        (
            lambda: dense([number("a"), number("b")], {"a": [[1.0]], "b": [[1.0], [2.0]]}),
            ValueError,
            "Batch size (first dimension) of each feature must be same. Batch size",
        ),
        (lambda: dense([number()], {"x": table([1.0])}), ValueError, "The corresponding Tensor of numerical column must be a Tensor."),
        (
            lambda: dense([fc.indicator_column(ids())], {"i": [[1.5]]}),
            ValueError,
            "Invalid input, not integer. key: i dtype: <dtype: 'float32'>",
        ),
        (
            lambda: dense([fc.indicator_column(words())], {"w": [[1]]}),
            ValueError,
            "Column dtype and SparseTensors dtype must be compatible. key: w,",
        ),
        (
            lambda: dense([fc.indicator_column(fc.categorical_column_with_hash_bucket("h", 3))], {"h": [[1]]}),
            ValueError,
            "Column dtype and SparseTensors dtype must be compatible. key: h,",
        ),
        (
            lambda: dense([fc.indicator_column(fc.categorical_column_with_hash_bucket("h", 3))], {"h": [[1.5]]}),
            ValueError,
            "column_name: h input_tensor dtype must be string or integer. dtype:",
        ),
        (
            lambda: dense([fc.indicator_column(fc.weighted_categorical_column(ids(), "w"))], {"i": [[1]], "w": [[1]]}),
            ValueError,
            "Bad dtype, expected <dtype: 'float32'>, but got <dtype: 'int32'>.",
        ),
        (
            lambda: dense([fc.indicator_column(fc.weighted_categorical_column(ids(), "w"))], {"i": [[1]]}),
            ValueError,
            "Feature w is not in features dictionary.",
        ),
        (
            lambda: dense(
                [fc.indicator_column(fc.crossed_column([fc.weighted_categorical_column(ids(), "w"), "a"], 3))],
                {"i": [[1]], "w": [[1.0]], "a": [["x"]]},
            ),
            ValueError,
            "crossed_column does not support weight_tensor, but the given column",
        ),
        (lambda: layer([ids()], {"i": [[1]]}), ValueError, "Items of feature_columns must be a"),
        (
            lambda: layer([old._numeric_column("x")], {"x": [[1.0]]}),
            ValueError,
            "Items of feature_columns must be a FeatureColumn. Given (type <class",
        ),
        (lambda: layer([number()], [[1.0]]), ValueError, "('We expected a dictionary here. Instead we got: ', [[<tf.Tensor"),
        (lambda: layer([number()], {"y": [[1.0]]}), ValueError, "Feature x is not in features dictionary."),
        (
            lambda: layer([embedding(fc.sequence_categorical_column_with_identity("i", 3))], {"i": [[1]]}),
            ValueError,
            "In embedding_column: i_embedding. categorical_column must not be of",
        ),
        (
            lambda: layer([fc.indicator_column(fc.sequence_categorical_column_with_identity("i", 3))], {"i": [[1]]}),
            ValueError,
            "In indicator_column: i_indicator. categorical_column must not be of",
        ),
        (lambda: steps([embedding()], {"i": [[1]]}), ValueError, "In embedding_column: i_embedding. categorical_column must be of type"),
        (
            lambda: steps([fc.indicator_column(ids())], {"i": [[1]]}),
            ValueError,
            "In indicator_column: i_indicator. categorical_column must be of type",
        ),
        (
            lambda: steps([fc.sequence_numeric_column("x")], [[1.0]]),
            ValueError,
            "('We expected a dictionary here. Instead we got: ', [[<tf.Tensor",
        ),
        (
            lambda: steps(
                [fc.sequence_numeric_column("x"), fc.sequence_numeric_column("y")],
                {"x": table([1.0, 2.0], [1.0]), "y": table([1.0], [2.0, 3.0])},
            ),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Condition x == y did not hold element-wise:] [x",
        ),
        (lambda: fc.sequence_numeric_column("x", normalizer_fn=3), TypeError, "normalizer_fn must be a callable. Given: 3"),
        (
            lambda: fc.sequence_numeric_column("x", dtype=tf.string),
            ValueError,
            "dtype must be convertible to float. dtype: <dtype: 'string'>, key: x",
        ),
        (lambda: fc.sequence_numeric_column("x", shape=[0]), ValueError, "shape dimensions must be greater than 0. shape: (0,), key: x"),
        (
            lambda: fc.linear_model({"x": [[1.0]]}, ["x"]),
            ValueError,
            "Items of feature_columns must be a _FeatureColumn. Given (type <class",
        ),
        (lambda: fc.linear_model({}, []), ValueError, "feature_columns must not be empty."),
        (
            lambda: fc.linear_model({"a": [[1.0]], "b": [[1.0], [2.0]]}, [number("a"), number("b")]),
            ValueError,
            "Batch size (first dimension) of each feature must be same. Batch size",
        ),
        (lambda: new.LinearModel(["x"]), ValueError, "Items of feature_columns must be a FeatureColumn. Given (type <class"),
        (
            lambda: new.LinearModel([old._numeric_column("x")]),
            ValueError,
            "Items of feature_columns must be a FeatureColumn. Given (type <class",
        ),
        (lambda: serial.serialize_feature_column(3), ValueError, "Instance: 3 is not a FeatureColumn"),
        (
            lambda: serial.deserialize_feature_column({"class_name": "NoSuchColumn", "config": {}}),
            ValueError,
            "Unknown feature_column_v2: NoSuchColumn",
        ),
        (lambda: serial.deserialize_feature_column({"config": {}}), ValueError, "Improper config format: {'config': {}}"),
        (
            lambda: serial.deserialize_feature_column({"class_name": "NumericColumn", "config": {"key": "x"}}),
            ValueError,
            "Invalid config: {'key': 'x'}, expected keys:",
        ),
        (
            lambda: dense([fc.indicator_column(ids())], {"i": [[-2]]}),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Negative bucket index for categorical column",
        ),
        (
            lambda: dense([fc.indicator_column(ids())], {"i": [[3]]}),
            tf.errors.InvalidArgumentError,
            'assertion failed: [Bucket index for categorical column \\"i\\" exceeds',
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)
