"""Sequences, shared tables, state and the older functions of columns; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed

import everflow as tf
from everflow import internals

fc = tf.feature_column
TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)
old = internals.module("python.feature_column.feature_column")
new = internals.module("python.feature_column.feature_column_v2")
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


def names(made, collection=tf.GraphKeys.GLOBAL_VARIABLES):
    made()
    return [v.name for v in tf.get_collection(collection)]


def lines(*words):
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("\n".join(words) + "\n")
    return path


contrib = tf.contrib.feature_column


def state(trainable=True):
    return new._StateManagerImpl(tf.keras.layers.Layer(name="layer"), trainable)


def shared(*columns, **kwargs):
    return new.shared_embedding_columns_v2(list(columns) or [ids("a"), ids("b")], 2, initializer=tf.constant_initializer(TABLE), **kwargs)


def sequence(key="i", buckets=3):
    return fc.sequence_categorical_column_with_identity(key, buckets)


def older(*columns, **kwargs):
    return fc.shared_embedding_columns(list(columns), 2, initializer=tf.constant_initializer(TABLE), **kwargs)


def checkpoint():
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("table", initializer=TABLE + 10)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, path)


def made_in(name, make):
    with tf.variable_scope(name, partitioner=tf.fixed_size_partitioner(2)):
        make()
    return [v.op.name for v in tf.global_variables()]


def loaded(column):
    return fc.embedding_column(ids(), 2, ckpt_to_load_from=checkpoint(), tensor_name_in_ckpt="table")


def after(*steps):
    return steps[-1]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: list(contrib.sequence_input_layer({"x": table([1.0, 2.0], [3.0])}, [contrib.sequence_numeric_column("x")])),
            [[[[1.0], [2.0]], [[3.0], [0.0]]], [2, 1]],
        ),
        (
            lambda: list(contrib.sequence_input_layer({"i": table([0, 2], [1])}, [embedding(sequence())])),
            [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: list(
                contrib.sequence_input_layer(
                    {"i": table([0, 2], [1]), "x": table([5.0, 6.0], [7.0])},
                    [contrib.sequence_numeric_column("x"), fc.indicator_column(sequence())],
                )
            ),
            [[[[1.0, 0.0, 0.0, 5.0], [0.0, 0.0, 1.0, 6.0]], [[0.0, 1.0, 0.0, 7.0], [0.0, 0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: list(
                contrib.sequence_input_layer({"a": table([0, 2], [1]), "b": table([1, 1], [1])}, older(sequence("a"), sequence("b")))
            ),
            [[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 2.0, 3.0]], [[2.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (
            lambda: names(lambda: contrib.sequence_input_layer({"i": table([0, 2], [1])}, [embedding(sequence())])),
            ["sequence_input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: names(
                lambda: contrib.sequence_input_layer({"i": table([0, 2], [1])}, [embedding(sequence())], trainable=False),
                tf.GraphKeys.TRAINABLE_VARIABLES,
            ),
            [],
        ),
        (
            lambda: names(
                lambda: contrib.sequence_input_layer({"i": table([0, 2], [1])}, [embedding(sequence())], weight_collections=["mine"]),
                "mine",
            ),
            ["sequence_input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: sequences.concatenate_context_input(tf.constant([[1.0], [2.0]]), tf.constant([[[3.0], [4.0]], [[5.0], [6.0]]])),
            [[[3.0, 1.0], [4.0, 1.0]], [[5.0, 2.0], [6.0, 2.0]]],
        ),
        (
            lambda: sequences.concatenate_context_input(tf.constant([[1.0, 9.0]]), tf.constant([[[3.0], [4.0]]])),
            [[[3.0, 1.0, 9.0], [4.0, 1.0, 9.0]]],
        ),
    ],
)
def test_sequences_of_the_older_functions(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: layer(shared(), {"a": [[1]], "b": [[2, 0]]}), [[2.0, 3.0, 2.0, 3.0]]),
        (lambda: layer(shared(combiner="sum"), {"a": [[1]], "b": [[2, 0]]}), [[2.0, 3.0, 4.0, 6.0]]),
        (lambda: layer(shared(max_norm=1.0), {"a": [[1]], "b": [[2, 0]]}), [[0.5547, 0.83205, 0.31235, 0.89043]]),
        (lambda: [c.name for c in shared()], ["a_shared_embedding", "b_shared_embedding"]),
        (lambda: [c.variable_shape for c in shared()], [[2], [2]]),
        (lambda: [c.parents[0].name for c in shared()], ["a", "b"]),
        (lambda: sorted(new.make_parse_example_spec_v2(shared())), ["a", "b"]),
        (lambda: names(lambda: layer(shared(), {"a": [[1]], "b": [[2, 0]]})), ["a_b_shared_embedding:0"]),
        (lambda: names(lambda: layer(shared(shared_embedding_collection_name="mine"), {"a": [[1]], "b": [[2, 0]]})), ["mine:0"]),
        (lambda: names(lambda: layer(shared(trainable=False), {"a": [[1]], "b": [[2, 0]]}), tf.GraphKeys.TRAINABLE_VARIABLES), []),
        (lambda: names(lambda: layer(shared(), {"a": [[1]], "b": [[2, 0]]}), tf.GraphKeys.TRAINABLE_VARIABLES), ["a_b_shared_embedding:0"]),
        (
            lambda: steps(shared(sequence("a"), sequence("b")), {"a": table([0, 2], [1]), "b": table([1, 1], [1])}),
            [[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 2.0, 3.0]], [[2.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0]]], [2, 1]],
        ),
        (lambda: [sorted(c._parse_example_spec) for c in older(ids("a"), ids("b"))], [["a"], ["b"]]),
        (lambda: [c._variable_shape for c in older(ids("a"), ids("b"))], [[2], [2]]),
        (lambda: [c._var_scope_name for c in older(ids("a"), ids("b"))], ["a_b_shared_embedding", "a_b_shared_embedding"]),
    ],
)
def test_layers_of_the_newer_functions_share_tables(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: dense([loaded(0)], {"i": [[1]]}), [[12.0, 13.0]]),
        (lambda: layer([loaded(0)], {"i": [[1]]}), [[12.0, 13.0]]),
        (
            lambda: dense(
                fc.shared_embedding_columns([ids("i")], 2, ckpt_to_load_from=checkpoint(), tensor_name_in_ckpt="table"), {"i": [[2]]}
            ),
            [[14.0, 15.0]],
        ),
        (
            lambda: layer(
                new.shared_embedding_columns_v2([ids("i")], 2, ckpt_to_load_from=checkpoint(), tensor_name_in_ckpt="table"), {"i": [[2]]}
            ),
            [[14.0, 15.0]],
        ),
        (
            lambda: made_in("s", lambda: fc.linear_model({"i": [[1]]}, [ids(buckets=4)])),
            ["s/linear_model/i/weights/part_0", "s/linear_model/i/weights/part_1", "s/linear_model/bias_weights/part_0"],
        ),
        (
            lambda: made_in("s", lambda: new.LinearModel([ids(buckets=4)])({"i": [[1]]})),
            ["s/linear_model/i/weights/part_0", "s/linear_model/i/weights/part_1", "s/linear_model/bias_weights/part_0"],
        ),
    ],
)
def test_tables_come_from_checkpoints_and_in_parts(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: after(state().create_variable(ids(), "v", (2, 3))).shape, [2, 3]),
        (lambda: state().create_variable(ids(), "v", (2, 3), dtype=tf.float64).dtype.base_dtype, "float64"),
        (lambda: state().create_variable(ids(), "v", (2, 3)).trainable, True),
        (lambda: state().create_variable(ids(), "v", (2, 3), trainable=False).trainable, False),
        (lambda: state(False).create_variable(ids(), "v", (2, 3)).trainable, False),
        (lambda: (lambda s: s.create_variable(ids(), "v", []) is s.get_variable(ids(), "v"))(state()), True),
        (lambda: (lambda s: after(s.add_resource(ids(), "r", 5), s.get_resource(ids(), "r")))(state()), 5),
    ],
)
def test_state_belongs_to_columns(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: (lambda m: [m.units if hasattr(m, "units") else m._units, m._sparse_combiner, m.name])(
                new._LinearModelLayer.from_config(
                    new._LinearModelLayer([ids(), number()], units=2, sparse_combiner="mean", name="n").get_config()
                )
            ),
            [2, "mean", "n"],
        ),
        (
            lambda: sorted(new._LinearModelLayer([ids()], name="n").get_config()),
            ["dtype", "feature_columns", "name", "sparse_combiner", "trainable", "units"],
        ),
        (lambda: new._LinearModelLayer([ids()])._sparse_combiner, "sum"),
        (lambda: new.LinearModel([ids()], name="m")({"i": [[1]]}).op.name, "m/m/m/weighted_sum"),
        (
            lambda: (lambda m: after(m({"i": [[1]]}), m({"i": [[2]]}), [v.name for v in tf.global_variables()]))(
                old.InputLayer([embedding()])
            ),
            ["feature_column_input_layer/i_embedding/embedding_weights:0"],
        ),
        (
            lambda: (
                lambda m: after(
                    m({"i": [[1]]}),
                    [
                        len(m.variables),
                        len(m.weights),
                        len(m.trainable_variables),
                        len(m.trainable_weights),
                        len(m.non_trainable_variables),
                        len(m.non_trainable_weights),
                        m.name,
                    ],
                )
            )(old.InputLayer([embedding(trainable=False)], name="n")),
            [1, 1, 0, 0, 1, 1, "n"],
        ),
        (
            lambda: (lambda m: after(m({"i": [[1]]}), [len(m.variables), len(m.trainable_variables), len(m.trainable_weights)]))(
                old.InputLayer([embedding()])
            ),
            [1, 1, 1],
        ),
        (lambda: (lambda m: m({"i": [[1]]}))(old.InputLayer([embedding()])), [[2.0, 3.0]]),
        (
            lambda: (lambda m: after(m({"i": [[1]]}), [v.name for v in tf.trainable_variables()]))(
                old.InputLayer([embedding()], trainable=False)
            ),
            [],
        ),
        (
            lambda: (lambda m: after(m({"i": [[1]]}), m({"i": [[1]]}), [v.name for v in tf.global_variables()]))(
                old._LinearModel([ids()], name="lm")
            ),
            ["lm/i/weights:0", "lm/bias_weights:0"],
        ),
        (
            lambda: (lambda m: after(m({"i": [[1]]}), sorted(str(getattr(k, "name", k)) for k in m.cols_to_vars())))(
                old._LinearModel([ids()], name="lm")
            ),
            ["bias", "i"],
        ),
        (
            lambda: (lambda b: [b.get("x"), b.get(number()), b.get(fc.bucketized_column(number(), [1.0]))])(
                old._LazyBuilder({"x": [1.0, 2.0]})
            ),
            [[[1.0], [2.0]], [[1.0], [2.0]], [[1], [1]]],
        ),
        (lambda: (lambda b: b.get(number(), None) is b.get(number(), None))(new.FeatureTransformationCache({"x": [1.0, 2.0]})), True),
        (
            lambda: (lambda b: b.get("x", None))(new.FeatureTransformationCache({"x": tf.placeholder_with_default([1.0, 2.0], None)})),
            [[1.0], [2.0]],
        ),
        (
            lambda: (lambda b: b.get("x", None))(new.FeatureTransformationCache({"x": tf.placeholder_with_default([[1.0], [2.0]], None)})),
            [[1.0], [2.0]],
        ),
        (
            lambda: (lambda b: b.get("x", None))(new.FeatureTransformationCache({"x": tf.SparseTensor([[1]], [5.0], [3])})),
            {"indices": [[1, 0]], "values": [5.0], "dense_shape": [3, 1]},
        ),
        (lambda: list(old._transform_features({"x": [[1.0]]}, [number()]).values())[0].op.name, "transform_features/x/Const"),
        (lambda: list(new._transform_features_v2({"x": [[1.0]]}, [number()], None).values())[0].op.name, "transform_features/x/Const"),
        (lambda: [sorted(old._transform_features({"x": [[1.0]], "y": [[2.0]]}, [number("y"), number()]), key=str)[0].name], ["x"]),
        (
            lambda: internals.module("python.feature_column.utils").sequence_length_from_sparse_tensor(
                tf.SparseTensor([[0, 0], [0, 3], [2, 1]], [1, 2, 3], [4, 5])
            ),
            [4, 0, 2, 0],
        ),
        (
            lambda: internals.module("python.feature_column.utils").sequence_length_from_sparse_tensor(
                tf.SparseTensor([[0, 0], [0, 3], [2, 1]], [1, 2, 3], [4, 6]), num_elements=2
            ),
            [2, 0, 1, 0],
        ),
        (
            lambda: internals.module("python.feature_column.utils").sequence_length_from_sparse_tensor(
                tf.SparseTensor([[0, 0, 5], [1, 2, 0]], [1, 2], [3, 4, 6]), num_elements=2
            ),
            [1, 2, 0],
        ),
        (lambda: new.categorical_column_with_vocabulary_file_v2("w", lines("a", "b"), num_oov_buckets=2).num_buckets, 4),
        (lambda: new.categorical_column_with_vocabulary_file_v2("w", lines("1", "2"), None, tf.int64, 1).default_value, 1),
    ],
)
def test_layers_are_made_of_data_and_keep_their_variables(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: contrib.sequence_input_layer({"i": table([0, 2], [1])}, [number("i")]),
            ValueError,
            "All feature_columns must be of type _SequenceDenseColumn. You can",
        ),
        (
            lambda: contrib.sequence_input_layer({"i": table([0, 2], [1])}, [embedding()]),
            ValueError,
            "In embedding_column: i_embedding. categorical_column must be of type",
        ),
        (
            lambda: contrib.sequence_input_layer({"i": table([0, 2], [1])}, [fc.indicator_column(ids())]),
            ValueError,
            "In indicator_column: i_indicator. categorical_column must be of type",
        ),
        (
            lambda: list(
                contrib.sequence_input_layer(
                    {"x": table([1.0, 2.0], [1.0]), "y": table([1.0], [2.0, 3.0])},
                    [contrib.sequence_numeric_column("x"), contrib.sequence_numeric_column("y")],
                )
            ),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Condition x == y did not hold element-wise:] [x",
        ),
        (
            lambda: sequences.concatenate_context_input(tf.constant([1.0]), tf.constant([[[3.0], [4.0]]])),
            ValueError,
            "context_input must have rank 2.  Tensor Const:0 must have rank 2.",
        ),
        (
            lambda: sequences.concatenate_context_input(tf.constant([[1.0]]), tf.constant([[3.0], [4.0]])),
            ValueError,
            "sequence_input must have rank 3.  Tensor Const_1:0 must have rank 3.",
        ),
        (
            lambda: sequences.concatenate_context_input(tf.constant([[1]]), tf.constant([[[3.0], [4.0]]])),
            TypeError,
            "context_input must have dtype float32; got <dtype: 'int32'>.  Const:0",
        ),
        (
            lambda: sequences.concatenate_context_input(tf.constant([[1.0]]), tf.constant([[[3], [4]]])),
            TypeError,
            "sequence_input must have dtype float32; got <dtype: 'int32'>.",
        ),
        (lambda: dense(shared(), {"a": [[1]], "b": [[2, 0]]}), ValueError, "SharedEmbeddingColumns are not supported in `linear_model` or"),
        (
            lambda: shared(sequence("a"))[0].get_dense_tensor(new.FeatureTransformationCache({"a": table([1])}), None),
            ValueError,
            "In embedding_column: a_shared_embedding. categorical_column must not",
        ),
        (
            lambda: shared(ids("a"))[0].get_sequence_dense_tensor(new.FeatureTransformationCache({"a": table([1])}), None),
            ValueError,
            "In embedding_column: a_shared_embedding. categorical_column must be",
        ),
        (
            lambda: older(sequence("a"))[0]._get_dense_tensor(new.FeatureTransformationCache({"a": table([1])})),
            ValueError,
            "In embedding_column: a_shared_embedding. categorical_column must not",
        ),
        (
            lambda: older(ids("a"))[0]._get_sequence_dense_tensor(new.FeatureTransformationCache({"a": table([1])})),
            ValueError,
            "In embedding_column: a_shared_embedding. categorical_column must be",
        ),
        (
            lambda: (
                tf.add_to_collection("s", 1),
                tf.add_to_collection("s", 2),
                dense(older(ids("a"), shared_embedding_collection_name="s"), {"a": [[1]]}),
            ),
            ValueError,
            "Collection [1, 2] can only contain one variable. Suggested fix A:",
        ),
        (
            lambda: (
                tf.add_to_collection("s", tf.get_variable("v", [9, 9])),
                dense(older(ids("a"), shared_embedding_collection_name="s"), {"a": [[1]]}),
            ),
            ValueError,
            "Shared embedding collection s contains variable v:0 of unexpected",
        ),
        (
            lambda: made_in("s", lambda: dense([embedding(ids(buckets=4))], {"i": [[1]]})),
            ValueError,
            "Too many elements provided. Needed at most 4, but received 6",
        ),
        (
            lambda: (lambda s: after(s.create_variable(ids(), "v", []), s.create_variable(ids(), "v", [])))(state()),
            ValueError,
            "Variable already exists.",
        ),
        (lambda: state().get_variable(ids(), "v"), ValueError, "Variable does not exist."),
        (lambda: state().get_resource(ids(), "r"), ValueError, "Resource does not exist."),
        (lambda: new.StateManager().create_variable(None, "a", []), NotImplementedError, "StateManager.create_variable"),
        (lambda: new.StateManager().add_variable(None, None), NotImplementedError, "StateManager.add_variable"),
        (lambda: new.StateManager().get_variable(None, "a"), NotImplementedError, "StateManager.get_var"),
        (lambda: new.StateManager().add_resource(None, "a", None), NotImplementedError, "StateManager.add_resource"),
        (lambda: new.StateManager().get_resource(None, "a"), NotImplementedError, "StateManager.get_resource"),
        (lambda: old._LinearModel(["x"]), ValueError, "Items of feature_columns must be a _FeatureColumn. Given (type <class"),
        (lambda: (lambda b: b.get("y"))(old._LazyBuilder({"x": [1.0, 2.0]})), ValueError, "Feature y is not in features dictionary."),
        (
            lambda: (lambda b: b.get(3))(old._LazyBuilder({"x": [1.0, 2.0]})),
            TypeError,
            '"key" must be either a "str" or "_FeatureColumn". Provided: 3',
        ),
        (
            lambda: (lambda b: b.get(3, None))(new.FeatureTransformationCache({"x": [1.0, 2.0]})),
            TypeError,
            '"key" must be either a "str" or "FeatureColumn". Provided: 3',
        ),
        (
            lambda: (lambda b: b.get("x", None))(new.FeatureTransformationCache({"x": tf.placeholder_with_default(1.0, None)})),
            tf.errors.InvalidArgumentError,
            "assertion failed: [Feature (key: x) cannot have rank 0. Given:",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)
