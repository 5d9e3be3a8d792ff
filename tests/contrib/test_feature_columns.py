"""The first feature columns, of tf.contrib.layers."""

import numpy as np
import pytest

import everflow as tf

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


def test_weights_of_a_linear_model():
    keys, real = layers.sparse_column_with_keys("k", ["a", "b", "c"]), layers.real_valued_column("r")
    buckets = layers.bucketized_column(real, [0.0, 1.0])
    weighted = layers.weighted_sparse_column(keys, "w")
    features = {"k": sparse(["a", "c", "nope"]), "r": tf.constant([[0.5], [3.0]]), "w": sparse([1.0, 2.0, 3.0], tf.float32)}
    sums, weights, bias = layers.weighted_sum_from_feature_columns(features, [keys, real, buckets, weighted], 2)
    assert [v.op.name for v in tf.global_variables()] == [
        f"weighted_sum_from_feature_columns/{name}"
        for name in ("r_bucketized/weights", "r/weight", "k/weights", "k_weighted_by_w/weights", "bias_weight")
    ]
    assert weights[keys][0].shape == (3, 2) and bias.shape == (2,)
    # The bucket's row, the number times its row, the key's row and the weight times it, and the bias.
    np.testing.assert_allclose(run(sums, counted), [[2 + 0 + 0 + 0 + 0, 3 + 0.5 + 1 + 1 + 1], [4 + 0 + 4 + 8 + 0, 5 + 3 + 5 + 10 + 1]])


def test_inputs_of_a_network():
    hashed = layers.sparse_column_with_hash_bucket("h", 10)
    keys = layers.sparse_column_with_keys("k", ["a", "b", "c"])
    ids = layers.sparse_column_with_integerized_feature("i", 5)
    features = {"h": sparse(["a", "b", "zz"]), "k": sparse(["a", "c", "c"]), "i": sparse([1, 2, 4], tf.int64)}
    found = layers.input_from_feature_columns(features, [layers.one_hot_column(keys), layers.embedding_column(ids, 2, combiner="mean")])
    np.testing.assert_allclose(run(found, counted), [[2, 3, 1, 0, 0], [6, 7, 0, 0, 2]])
    one, two = layers.shared_embedding_columns([hashed, layers.sparse_column_with_hash_bucket("k", 10)], 3)
    found = layers.input_from_feature_columns(features, [one, two], scope="shared")
    assert [v.op.name for v in tf.global_variables("shared")] == ["shared/h_shared_embedding/h_k_shared_embedding"] and found.shape[1] == 6
    with pytest.raises(ValueError, match="not supported in DNN"):
        layers.input_from_feature_columns(features, [hashed])
    with pytest.raises(ValueError, match="Duplicate feature column"):
        layers.input_from_feature_columns(features, [layers.one_hot_column(keys)] * 2)


def test_crosses_are_hashed_as_tensorflow_hashes_them():
    hashed, keys = layers.sparse_column_with_hash_bucket("h", 10), layers.sparse_column_with_keys("k", ["a", "b", "c"])
    ids = layers.sparse_column_with_integerized_feature("i", 5)
    features = {"h": sparse(["a", "b", "zz"]), "k": sparse(["a", "c", "nope"]), "i": sparse([1, 2, 3], tf.int64)}
    columns = [layers.crossed_column([hashed, keys], 1000), layers.crossed_column([hashed, ids], 1000)]
    found = layers.transform_features(features, columns)
    assert run(found[columns[0]].values).tolist() == [952, 197, 804, 146, 785]
    assert run(found[columns[1]].values).tolist() == [934, 379, 378, 864, 871]
    with_key = layers.crossed_column([hashed, keys], 1000, hash_key=5)
    assert run(layers.transform_features(features, [with_key])[with_key].values).tolist() == [623, 288, 733, 415, 965]


def test_columns_say_how_examples_are_parsed():
    columns = [layers.sparse_column_with_keys("k", ["a", "b"]), layers.real_valued_column("r", dimension=2, default_value=1.0)]
    spec = layers.create_feature_spec_for_parsing(columns)
    assert spec == {"k": tf.VarLenFeature(tf.string), "r": tf.FixedLenFeature([2], tf.float32, [1.0, 1.0])}
    example = tf.train.Example(features=tf.train.Features(feature={"k": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b"]))}))
    found = layers.parse_feature_columns_from_examples([example.SerializeToString()], columns)
    assert run(found[columns[0]].values).tolist() == [1] and run(found[columns[1]]).tolist() == [[1.0, 1.0]]
    for make, error in (
        (lambda: layers.sparse_column_with_hash_bucket("h", 0), "at least 1"),
        (lambda: layers.bucketized_column(columns[1], [2.0, 1.0]), "sorted list"),
        (lambda: layers.sparse_column_with_hash_bucket("h", 2, combiner="max"), "combiner must be one of"),
    ):
        with pytest.raises(ValueError, match=error):
            make()


@pytest.mark.parametrize(("shape", "ops"), [([None, 3], []), ([None], ["ExpandDims"])])
def test_numbers_enter_networks_and_sums_by_the_ops_of_tensorflow(graph, shape, ops):
    """Seeds follow from the number of ops before."""
    column = layers.real_valued_column("x", dimension=3 if len(shape) == 2 else 1)
    layers.input_from_feature_columns({"x": tf.placeholder(tf.float32, shape)}, [column])
    assert [o.type for o in graph.get_operations() if "/x/" in o.name and o.type != "Const"] == ops
    sums, _, _ = layers.weighted_sum_from_feature_columns({"x": tf.placeholder(tf.float32, shape)}, [column], 2, scope="sums")
    assert [o.type for o in graph.get_operations() if o.name.startswith("sums/x/") and o.type in ("ExpandDims", "Reshape")] == ops
    assert sums.shape.as_list() == [None, 2]
