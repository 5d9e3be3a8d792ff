"""Columns of tf.contrib.layers in tf.feature_column and tf.estimator, and their own protocol."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.layers.column_protocol import Transformer
from everflow.contrib.layers.feature_columns import real_valued_var_len_column, sequence_feature_spec

layers = tf.contrib.layers


def sparse(values, dtype=tf.string):
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant(values, dtype), [2, 2])


def run(tensor, fill=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for variable in tf.global_variables() if fill is not None else ():
            variable.load(fill(variable.shape.as_list()), sess)
        return sess.run(tensor)


def counted(shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


KEYS = layers.sparse_column_with_keys("k", ["a", "b", "c"])
REAL = layers.real_valued_column("r", 2, normalizer=lambda x: x * 2)
BUCKETS = layers.bucketized_column(layers.real_valued_column("r", 2), [0.0, 1.0])
WEIGHTED = layers.weighted_sparse_column(KEYS, "w")
SCATTERED = layers.scattered_embedding_column("k", 7, 3, hash_key=5)


def features():
    return {"k": sparse(["a", "c", "nope"]), "r": tf.constant([[0.5, -1.0], [3.0, 4.0]]), "w": sparse([1.0, 2.0, 3.0], tf.float32)}


@pytest.mark.parametrize(
    "column",
    [REAL, BUCKETS, layers.one_hot_column(KEYS), layers.one_hot_column(WEIGHTED), layers.embedding_column(WEIGHTED, 2), SCATTERED],
    ids=lambda column: column.name,
)
def test_input_layer_of_core_takes_them(column):
    ours = layers.input_from_feature_columns(features(), [column])
    core = tf.feature_column.input_layer(features(), [column])
    values = run([ours, core], counted)
    np.testing.assert_allclose(values[0], values[1])
    assert values[0].shape == (2, column._variable_shape.num_elements())
    assert [v.op.name for v in tf.global_variables() if v.op.name.startswith("input_layer")] == [
        v.op.name.replace("input_from_feature_columns", "input_layer")
        for v in tf.global_variables()
        if v.op.name.startswith("input_from_feature_columns")
    ]


@pytest.mark.parametrize(
    "column", [REAL, BUCKETS, KEYS, WEIGHTED, layers.crossed_column([KEYS, BUCKETS], 9)], ids=lambda column: column.name
)
def test_linear_model_of_core_takes_them(column):
    ours = layers.weighted_sum_from_feature_columns(features(), [column], 2)[0]
    core = tf.feature_column.linear_model(features(), [column], 2)
    values = run([ours, core], counted)
    np.testing.assert_allclose(values[0], values[1])
    assert values[0].any()


def test_an_estimator_of_core_trains_on_them():
    columns = [layers.real_valued_column("x"), layers.embedding_column(layers.sparse_column_with_integerized_feature("i", 3), 2)]
    data = {"x": np.array([[1.0], [2.0], [3.0]], np.float32), "i": np.array([[0], [1], [2]])}

    def inputs():
        return tf.data.Dataset.from_tensors((data, np.array([[2.0], [4.0], [6.0]], np.float32))).repeat(20)

    model = tf.estimator.DNNRegressor([4], columns)
    model.train(inputs)
    assert "dnn/input_from_feature_columns/input_layer/i_embedding/weights" in model.get_variable_names()
    linear = tf.estimator.LinearRegressor([layers.real_valued_column("x")])
    linear.train(inputs)
    assert linear.get_variable_value("linear/linear_model/x/weights").shape == (1, 1)


def test_core_parses_what_they_need():
    spec = tf.feature_column.make_parse_example_spec([REAL, layers.one_hot_column(WEIGHTED)])
    assert spec == {"r": tf.FixedLenFeature([2], tf.float32), "k": tf.VarLenFeature(tf.string), "w": tf.VarLenFeature(tf.float32)}
    with pytest.raises(ValueError, match="must be a _DenseColumn. You can wrap"):
        tf.feature_column.input_layer(features(), [KEYS])


def test_values_have_a_hash_for_each_key():
    column = layers.sparse_column_with_hash_bucket("h", 10, hash_keys=[[10, 20], [20, 30]])
    found = run(Transformer({"h": tf.constant([["p", "q"], ["r", "s"]])}).transform(column))
    # As 1.15.5 hashes them.
    assert found.values.tolist() == [6, 8, 4, 6, 9, 4, 0, 1] and found.dense_shape.tolist() == [2, 4]
    for keys in ([], 1):
        with pytest.raises(ValueError, match="hash_keys must be a non-empty list"):
            layers.sparse_column_with_hash_bucket("h", 10, hash_keys=keys)
    with pytest.raises(ValueError, match="Each element of hash_keys must be a pair of integers"):
        layers.sparse_column_with_hash_bucket("h", 10, hash_keys=[[1, 2.0]])


def test_one_value_for_each_example_is_a_row():
    hot = layers.one_hot_column(layers.sparse_column_with_integerized_feature("i", 3))
    assert run(layers.input_from_feature_columns({"i": tf.constant([1, -1])}, [hot])).tolist() == [[0, 1, 0], [0, 0, 0]]
    assert hot.length == 3


def test_weights_of_values_without_an_id_are_left_out():
    hot = layers.one_hot_column(WEIGHTED)
    given = {"k": tf.constant([["a", "zz", "b"]]), "w": tf.constant([[2.0, 4.0, 6.0]])}
    assert run(layers.input_from_feature_columns(given, [hot])).tolist() == [[2, 6, 0]]


def test_features_may_be_given_as_columns_make_them():
    one, two = layers.shared_embedding_columns([KEYS, layers.sparse_column_with_keys("l", ["a", "b", "c"])], 2)
    ids = tf.SparseTensor([[0, 0], [1, 0]], [0, 2], [2, 1])
    first, second = layers.input_from_feature_columns({one: ids}, [one]), layers.input_from_feature_columns({two: ids}, [two])
    assert len(tf.global_variables()) == 1
    values = run([first, second], counted)
    assert values[0].tolist() == values[1].tolist() == [[0, 1], [4, 5]]
    given = {KEYS: "anything"}
    assert Transformer(given).transform(KEYS) == "anything"


def test_sequences_have_a_dimension_more():
    embedded = layers.embedding_column(KEYS, 2)
    found = run(layers.sequence_input_from_feature_columns({"k": sparse(["a", "b", "c"])}, [embedded]), counted)
    assert found.tolist() == [[[0, 1], [0, 0]], [[2, 3], [4, 5]]]
    numbers = layers.sequence_input_from_feature_columns({"r": tf.ones([2, 3, 4, 5])}, [layers.real_valued_column("r")])
    assert numbers.shape == (2, 3, 20)
    crossed = layers.embedding_column(layers.crossed_column([KEYS, BUCKETS], 9), 2)
    with pytest.raises(ValueError, match="Column k_X_r_bucketized is of type _CrossedColumn"):
        layers.sequence_input_from_feature_columns({}, [crossed])
    with pytest.raises(ValueError, match="FeatureColumn type _BucketizedColumn is not currently supported"):
        layers.sequence_input_from_feature_columns({}, [BUCKETS])


def test_numbers_of_any_length():
    padded, loose = real_valued_var_len_column("p", default_value=0), real_valued_var_len_column("s", is_sparse=True)
    assert padded.config == {"p": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=0.0)}
    assert loose.config == {"s": tf.VarLenFeature(tf.float32)}
    sums, weights, _ = layers.weighted_sum_from_feature_columns({"p": tf.constant([[5.0, 4.0], [0.0, 6.0]])}, [padded], 1)
    assert run(sums, counted).tolist() == [[4], [6]] and weights[padded][0].shape == (2, 1)
    with pytest.raises(ValueError, match="Set is_sparse to False if you want a dense Tensor for column_name: s"):
        layers.input_from_feature_columns({"s": sparse([1.0, 2.0, 3.0], tf.float32)}, [loose])
    with pytest.raises(ValueError, match="default_value must be provided when is_sparse=False"):
        real_valued_var_len_column("p")
    with pytest.raises(ValueError, match="Only scalar default value"):
        real_valued_var_len_column("p", default_value=[1.0])
    steps = sequence_feature_spec([REAL, layers.real_valued_column("d", default_value=3.0), KEYS])
    assert steps == {
        "r": tf.FixedLenSequenceFeature([2], tf.float32),
        "d": tf.FixedLenSequenceFeature([1], tf.float32, allow_missing=True),
        "k": tf.VarLenFeature(tf.string),
    }


def test_joint_weights_are_one_variable():
    hashed = layers.sparse_column_with_hash_bucket("h", 2)
    given = {"k": sparse(["a", "c", "b"]), "h": sparse(["x", "x", "x"])}
    _, weights, _ = layers.joint_weighted_sum_from_feature_columns(given, [KEYS, hashed], 1)
    assert [v.op.name for v in weights] == ["joint_weighted_sum_from_feature_columns/linear_weights/weights"]
    assert weights[0].shape == (5, 1)
    with pytest.raises(AssertionError, match="Joint sums for weighted sparse columns are not supported"):
        layers.joint_weighted_sum_from_feature_columns(features(), [WEIGHTED], 1)
    with pytest.raises(AssertionError, match="Combiners other than sum"):
        mean = layers.sparse_column_with_hash_bucket("h", 2, combiner="mean")
        layers.joint_weighted_sum_from_feature_columns(given, [mean], 1)


def test_weights_in_parts_come_as_their_parts():
    with tf.variable_scope("model", partitioner=tf.fixed_size_partitioner(2)):
        sums, weights, _ = layers.weighted_sum_from_feature_columns(features(), [KEYS], 1)
    assert [v.shape.as_list() for v in weights[KEYS]] == [[2, 1], [1, 1]]
    assert run(sums, lambda shape: np.ones(shape, np.float32)).tolist() == [[2], [2]]


def test_what_is_refused():
    with pytest.raises(ValueError, match="Expected feature_columns to be iterable, found dict"):
        layers.input_from_feature_columns(features(), {"r": REAL})
    with pytest.raises(TypeError, match="must be a non-string sequence"):
        layers.shared_embedding_columns({KEYS}, 2)
    with pytest.raises(ValueError, match="not compatible"):
        layers.shared_embedding_columns([KEYS, layers.sparse_column_with_keys("l", ["x", "y", "z"])], 2)
    with pytest.raises(TypeError, match="default_value must be compatible with dtype. default_value: text, dtype: <dtype: 'float32'>"):
        layers.real_valued_column("r", default_value="text")
    with pytest.raises(TypeError, match="should only contain instances of _FeatureColumn. Given column is x"):
        layers.create_feature_spec_for_parsing(["x"])
    with pytest.raises(NotImplementedError, match="No dense tensor representation for column _OneHotColumn"):
        layers.weighted_sum_from_feature_columns(features(), [layers.one_hot_column(KEYS)], 1)
    with pytest.raises(ValueError, match="dtype must be string or integer"):
        layers.sparse_column_with_vocabulary_file("k", "file", vocab_size=3, dtype=tf.float32)
    with pytest.raises(ValueError, match="SparseTensor is not supported for auto detection"):
        layers.infer_real_valued_columns(sparse([1.0, 2.0, 3.0], tf.float32))


def test_numbers_are_inferred_with_all_their_dimensions():
    assert layers.infer_real_valued_columns({"x": tf.zeros([4, 2, 3])})[0].dimension == 6
