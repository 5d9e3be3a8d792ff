"""Edges of structures: types of elements, options, iterators, optionals and what goes with them; values are those of TensorFlow 1.15.5."""

import collections

import numpy as np
import pytest
from pipelines import fed, shown
from plain import plain

import everflow as tf
from everflow import internals
from everflow.graph import shapes

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data
S = tf.TensorSpec
P = collections.namedtuple("P", "b a")
REWRITES = """
filter_fusion filter_with_random_uniform_fusion hoist_random_uniform map_and_batch_fusion map_and_filter_fusion map_fusion
map_parallelization
noop_elimination parallel_batch shuffle_and_repeat_fusion
""".split()
SPEC = "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))"


def module(name):
    return internals.module(f"python.data.{name}")


ds, md = module("ops.dataset_ops"), module("ops.multi_device_iterator_ops")
nest, structure, convert, options = (module(f"util.{name}") for name in ("nest", "structure", "convert", "options"))
dist, opt, stats = (module(f"experimental.ops.{name}") for name in ("distribute", "optimization", "stats_ops"))
optionals, random_seed = module("ops.optional_ops"), module("util.random_seed")


def gen(values, types=tf.int32, shapes=None):
    return D.from_generator(lambda: iter(values), types, shapes)


def run(tensors):
    with tf.Session() as session:
        return plain(session.run(tensors))


class Mine(tf.data.Dataset):
    """A dataset of a program's own, in the older way."""

    def _as_variant_tensor(self):
        return D.range(3)._variant_tensor

    def _inputs(self):
        return []

    output_classes = property(lambda self: tf.Tensor)
    output_shapes = property(lambda self: tf.TensorShape([]))
    output_types = property(lambda self: tf.int64)


def setter(name):
    setattr(D.range(3), name, 1)


def uninit_save():
    iterator = tf.data.make_initializable_iterator(D.range(3))
    return run(tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource))


def shared(*types):
    iterators = [tf.data.Iterator.from_structure(t, shared_name="n") for t in types]
    return run([i._iterator_resource.op for i in iterators])


def init(dataset, types, shapes=None):
    iterator = tf.data.Iterator.from_structure(types, shapes)
    run(tf.raw_ops.MakeIterator(dataset=E.to_variant(dataset), iterator=iterator._iterator_resource))


def dev():
    iterator = tf.data.make_initializable_iterator(D.range(3))
    return run(tf.raw_ops.IteratorGetDevice(resource=iterator._iterator_resource))


def bad_handle(value, types=tf.int64, shape=()):
    handle = tf.placeholder(tf.string, None if shape is None else list(shape))
    following = tf.data.Iterator.from_string_handle(handle, types).get_next()
    with tf.Session() as session:
        return session.run(following, {handle: session.run(value) if hasattr(value, "graph") else value})


def handle_other():
    return bad_handle(tf.data.make_one_shot_iterator(D.range(3)).string_handle(), tf.float32)


def handle_vector():
    return bad_handle(["a"], shape=None)


def opts(**given):
    made = tf.data.Options()
    for name, value in given.items():
        setattr(made, name, value)
    return made


def static(made):
    return made._static_optimizations()


def mopt(**given):
    made = tf.data.Options()
    for name, value in given.items():
        setattr(made.experimental_optimization, name, value)
    return sorted(static(made))


def with_threads(**given):
    made = tf.data.Options()
    for name, value in given.items():
        setattr(made.experimental_threading, name, value)
    return D.range(2).with_options(made)


def stateless():
    made = tf.data.Options()
    made.experimental_distribute._make_stateless = True
    return static(made)


def dealt(dataset, devices):
    iterator = md.MultiDeviceIterator(dataset, ["/cpu:0"] * devices)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(plain(session.run(following)))
            except tf.errors.OutOfRangeError:
                return found


def undealt():
    return run(md.MultiDeviceIterator(D.range(3), ["/cpu:0", "/cpu:0"]).get_next())


def seeds(seed, graph=None):
    if graph is not None:
        tf.set_random_seed(graph)
    return run(random_seed.get_seed(seed))


def doubled():
    return internals.module("python.eager.function").defun(lambda x: x * 2, input_signature=[S([], tf.int64)])


map_defun = module("experimental.ops.map_defun")


def mapped(x, types=None, shapes=None):
    return map_defun.map_defun(doubled(), [x], types or [tf.int64], shapes or [[]])


def optional(variant, spec):
    return optionals._OptionalImpl(variant, spec)


def opt_zero(*values):
    given = E.Optional.from_value(values)
    return run(optional(tf.zeros_like(given._variant_tensor), given._value_structure).get_value())


def opt_sum(a, b):
    a, b = E.Optional.from_value(a), E.Optional.from_value(b)
    return run(optional(tf.add_n([a._variant_tensor, b._variant_tensor]), a._value_structure).get_value())


def opt_none_sum():
    some, none = E.Optional.from_value(1), E.Optional.none_from_structure(S([], tf.int32))
    return run(tf.raw_ops.OptionalHasValue(optional=tf.add_n([some._variant_tensor, none._variant_tensor])))


def opt_none():
    return run(E.Optional.none_from_structure(S([], tf.int32)).get_value())


def opt_raw(types, shapes):
    variant = E.Optional.from_value([1, 2])._variant_tensor
    return run(tf.raw_ops.OptionalGetValue(optional=variant, output_types=types, output_shapes=shapes))


def grown(shape):
    """A reduction to a vector that is said to have a shape."""
    f = ds.StructuredFunctionWrapper(lambda s, x: tf.concat([s, [x]], 0), "r", input_structure=(S([None], tf.int64), S([], tf.int64)))
    return run(
        tf.raw_ops.ReduceDataset(
            input_dataset=E.to_variant(D.range(3)),
            initial_state=[tf.zeros([0], tf.int64)],
            other_arguments=[],
            f=f.function,
            output_types=[tf.int64],
            output_shapes=[shape],
        )
    )


def agg(dataset, prefix="", counter=""):
    """The names of statistics that two elements leave."""
    aggregator = E.StatsAggregator()
    iterator = tf.data.make_initializable_iterator(dataset.apply(stats.set_stats_aggregator(aggregator, prefix, counter)))
    following, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(following)
        session.run(following)
        return sorted(v.tag for v in tf.Summary.FromString(session.run(summary)).value)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: setter("_variant_tensor"), "ValueError: The _variant_tensor property is read-only"),
        (lambda: setter("_graph"), "ValueError: The _graph property is read-only"),
        (lambda: Mine(), [0, 1, 2]),
        (lambda: str(Mine().element_spec), "TensorSpec(shape=(), dtype=tf.int64, name=None)"),
        (lambda: Mine().map(lambda x: x + 1), [1, 2, 3]),
        (lambda: repr(Mine()), "<Mine shapes: (), types: tf.int64>"),
        (
            lambda: [c.__name__ for c in D.zip((D.range(2), D.from_tensors(tf.SparseTensor([[0]], [1], [2])))).output_classes],
            ["Tensor", "SparseTensor"],
        ),
        (lambda: [s.as_list() for s in D.zip((D.range(2), D.from_tensors([1, 2]))).output_shapes], [[], [2]]),
        (lambda: [t.name for t in D.zip((D.range(2), D.from_tensors([1.0, 2]))).output_types], ["int64", "float32"]),
        (
            lambda: str(E.get_structure(D.range(4).window(2).batch(2))),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([Dimension(None)]))",
        ),
        (lambda: D.range(4).window(2).batch(2).apply(E.unbatch()).flat_map(lambda w: w.batch(2)), [[0, 1], [2, 3]]),
        (
            lambda: str(tf.data.get_output_classes(D.range(4).window(2))),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))",
        ),
        (
            lambda: str(tf.data.get_output_types(D.range(4).window(2))),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))",
        ),
        (lambda: repr(D.range(4).window(2)), f"<DatasetV1Adapter shapes: {SPEC}, types: {SPEC}>"),
        (lambda: D.from_tensors(D.range(3)).flat_map(lambda d: d), [0, 1, 2]),
        (lambda: D.from_tensors((D.range(3), 7)).flat_map(lambda d, n: d.map(lambda x: x + tf.cast(n, tf.int64))), [7, 8, 9]),
        (lambda: D.range(2).map(lambda x: None), "TypeError: Unsupported return value from function passed to Dataset.map(): None."),
        (lambda: D.range(2).map(3), "ValueError: Argument must be callable"),
        (
            lambda: ds.StructuredFunctionWrapper(lambda x: x, "x()"),
            "ValueError: Either `dataset`, `input_structure` or all of `input_classes`, `input_shapes`, and `input_",
        ),
        (
            lambda: ds.StructuredFunctionWrapper(lambda x: x, "x()", dataset=D.range(2), input_structure=S([], tf.int64)),
            "ValueError: Either `dataset`, `input_structure`, or all of `input_classes`, `input_shapes`, and `input",
        ),
        (
            lambda: str(
                [
                    (w.output_types, w.output_shapes, w.output_classes.__name__)
                    for w in [ds.StructuredFunctionWrapper(lambda x: x, "x()", dataset=D.range(2))]
                ]
            ),
            "[(tf.int64, TensorShape([]), 'Tensor')]",
        ),
        (
            lambda: str(
                ds.StructuredFunctionWrapper(
                    lambda x: x, "x()", input_classes=tf.Tensor, input_shapes=tf.TensorShape([2]), input_types=tf.int32
                ).output_structure
            ),
            "TensorSpec(shape=(2,), dtype=tf.int32, name=None)",
        ),
        (lambda: gen([1], tf.string), ["InternalError: Unsupported object type int"]),
        (lambda: gen([np.array(["a", 1], object)], tf.string), ["InternalError: Unsupported object type int"]),
        (lambda: gen(["é", b"b", ["c", b"d"]], tf.string), [b"\xc3\xa9", b"b", [b"c", b"d"]]),
        (
            lambda: gen(["x"], tf.int32),
            ["InvalidArgumentError: TypeError: `generator` yielded an element that could not be converted to the expected type"],
        ),
        (lambda: D.from_generator(lambda a, b: iter([a, a + b]), tf.int64, args=(np.int64(2), 3)), [2, 5]),
        (lambda: D.from_generator([1], tf.int32), "TypeError: `generator` must be callable."),
        (lambda: D.from_generator(lambda a: iter([a]), tf.int64, args=3), "TypeError: values must be a sequence."),
        (lambda: gen([(1, [2.0]), (3, [])], (tf.int32, tf.float32), ([], [None])), [[1, [2.0]], [3, []]]),
        (
            lambda: gen([(1, [2.0]), 3], (tf.int32, tf.float32)),
            [
                [1, [2.0]],
                "InvalidArgumentError: TypeError: `generator` yielded an element that did not match the expected structure. The e",
            ],
        ),
        (lambda: gen([{"a": 1}], {"a": tf.int32}), [{"a": 1}]),
        (lambda: gen([1, 2], tf.int32).repeat(2), [1, 2, 1, 2]),
        (lambda: gen([1.7], tf.int32), [1]),
        (uninit_save, "FailedPreconditionError: Save() failed because the iterator has not been initialized. Ensure that you have run the"),
        (lambda: shared(tf.int64, tf.int64), [None, None]),
        (lambda: shared(tf.int64, tf.float32), "InvalidArgumentError: Data type mismatch at component 0: expected int64 but got float."),
        (
            lambda: shared(tf.int64, (tf.int64, tf.int64)),
            "InvalidArgumentError: Number of components does not match: expected 1 types but got 2.",
        ),
        (lambda: init(D.range(3), tf.int32), "InvalidArgumentError: Data type mismatch at component 0: expected int32 but got int64."),
        (
            lambda: init(D.range(3), (tf.int64, tf.int64)),
            "InvalidArgumentError: Number of components does not match: expected 2 types but got 1.",
        ),
        (
            lambda: init(D.range(3), tf.int64, tf.TensorShape([2])),
            "InvalidArgumentError: Incompatible shapes at component 0: expected [2] but got [].",
        ),
        (dev, b"/job:localhost/replica:0/task:0/device:CPU:0"),
        (lambda: bad_handle(b"xyz"), "InvalidArgumentError: Could not parse string_handle as a valid ResourceHandle"),
        (
            lambda: bad_handle(b""),
            'InvalidArgumentError: Attempted create an iterator on device "/job:localhost/replica:0/task:0/device:CPU:0" from',
        ),
        (handle_other, "InvalidArgumentError: Data type mismatch at component 0: expected float but got int64."),
        (handle_vector, "InvalidArgumentError: string_handle must be a scalar"),
        (
            lambda: tf.data.Iterator(None, None, tf.int64, None, None),
            "ValueError: If `structure` is not specified, all of `output_types`, `output_shapes`, and `output_class",
        ),
        (lambda: run(convert.partial_shape_to_tensor(tf.constant([1, 2], tf.int64))), [1, 2]),
        (lambda: run(convert.partial_shape_to_tensor(tf.TensorShape([None, 3]))), [-1, 3]),
        (
            lambda: run(convert.partial_shape_to_tensor(tf.TensorShape(None))),
            "ValueError: Cannot convert a partially known TensorShape to a Tensor: <unknown>",
        ),
        (
            lambda: run(convert.partial_shape_to_tensor(tf.constant([[1]], tf.int64))),
            'ValueError: The given shape Tensor("Const:0", shape=(1, 1), dtype=int64) must be a 1-D tensor of tf.in',
        ),
        (
            lambda: run(convert.partial_shape_to_tensor(tf.constant([1], tf.int32))),
            'TypeError: The given shape Tensor("Const:0", shape=(1,), dtype=int32) must be a 1-D tensor of tf.int6',
        ),
        (lambda: run(convert.partial_shape_to_tensor(5)), [5]),
        (
            lambda: run(
                [
                    convert.optional_param_to_tensor("a", None),
                    convert.optional_param_to_tensor("a", 3, 7),
                    convert.optional_param_to_tensor("a", None, 7),
                ]
            ),
            [0, 3, 7],
        ),
        (lambda: convert.optional_param_to_tensor("a", "x", "y", tf.string).dtype.name, "string"),
        (
            lambda: D.from_tensors([1]).padded_batch(1, tf.TensorShape(None)),
            "ValueError: Cannot convert a partially known TensorShape to a Tensor: <unknown>",
        ),
        (lambda: D.from_tensors([1]).padded_batch(1, tf.constant([3], tf.int64)), [[[1, 0, 0]]]),
        (
            lambda: D.from_tensors([1]).padded_batch(1, tf.constant([[3]], tf.int64)),
            'ValueError: Padded shape Tensor("Const:0", shape=(1, 1), dtype=int64) must be a 1-D tensor of tf.int64',
        ),
        (
            lambda: D.from_tensors([1]).padded_batch(1, tf.constant([3], tf.int32)),
            'TypeError: Padded shape Tensor("Const:0", shape=(1,), dtype=int32) must be a 1-D tensor of tf.int64 v',
        ),
        (
            lambda: D.from_tensors([1, 2]).padded_batch(1, [1]),
            "ValueError: The padded shape (1,) is not compatible with the corresponding input component shape (2,).",
        ),
        (
            lambda: D.from_tensors([1, 2]).padded_batch(1, [1, 1]),
            "ValueError: The padded shape (1, 1) is not compatible with the corresponding input component shape (2,",
        ),
        (
            lambda: D.from_tensors([1, 2]).padded_batch(1, [2], 1.0),
            'TypeError: Padding value tensor (Tensor("padding_value:0", shape=(), dtype=float32)) does not match o',
        ),
        (
            lambda: D.from_tensors([1, 2]).padded_batch(1, [2], [1]),
            'ValueError: Padding value should be a scalar, but is not: Tensor("padding_value:0", shape=(1,), dtype=',
        ),
        (
            lambda: D.from_tensors(tf.SparseTensor([[0]], [1], [2])).padded_batch(1, [2]),
            "TypeError: Batching of padded sparse tensors is not currently supported",
        ),
        (lambda: gen([[1], [1, 2]]).padded_batch(2, [None]), [[[1, 0], [1, 2]]]),
        (lambda: run(C.reduce_dataset(D.range(4), E.Reducer(lambda k: k, lambda s, x: s + x, lambda s: s * 10))), 6),
        (
            lambda: C.reduce_dataset(3, E.Reducer(lambda k: k, lambda s, x: s + x, lambda s: s)),
            "TypeError: `dataset` must be a `tf.data.Dataset` object.",
        ),
        (lambda: E.get_single_element(3), "TypeError: `dataset` must be a `tf.data.Dataset` object."),
        (lambda: run(E.get_single_element(D.range(0))), "InvalidArgumentError: Dataset was empty."),
        (lambda: run(E.get_single_element(D.range(2))), "InvalidArgumentError: Dataset had more than one element."),
        (
            lambda: run(D.range(3).reduce(0, lambda s, x: x)),
            "TypeError: The element types for the new state must match the initial state. Expected <dtype: 'int32'",
        ),
        (
            lambda: D.range(3).apply(E.scan(np.int64(0), lambda s, x: s)),
            "TypeError: The scan function must return a pair comprising the new state and the output value.",
        ),
        (
            lambda: D.range(3).apply(E.scan(0, lambda s, x: (x, x))),
            "TypeError: The element types for the new state must match the initial state. Expected <dtype: 'int32'",
        ),
        (lambda: seeds(None), [0, 0]),
        (lambda: seeds(0), [87654321, 0]),
        (lambda: seeds(0, 0), [0, 2147483647]),
        (lambda: seeds(5, 7), [7, 5]),
        (lambda: seeds(None, 7), [7, 0]),
        (lambda: seeds(tf.constant(5, tf.int64)), [87654321, 5]),
        (
            lambda: E.from_variant(
                tf.raw_ops.ShardDataset(
                    input_dataset=E.to_variant(D.range(2)),
                    num_shards=3,
                    index=1,
                    require_non_empty=True,
                    output_types=[tf.int64],
                    output_shapes=[[]],
                ),
                S([], tf.int64),
            ),
            ["InvalidArgumentError: There aren't enough elements in this dataset for each shard to have at least one element ("],
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.ShardDataset(
                    input_dataset=E.to_variant(D.range(2)),
                    num_shards=3,
                    index=2,
                    require_non_empty=True,
                    output_types=[tf.int64],
                    output_shapes=[[]],
                ),
                S([], tf.int64),
            ),
            [],
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.ShardDataset(
                    input_dataset=E.to_variant(D.range(5)),
                    num_shards=3,
                    index=1,
                    require_non_empty=True,
                    output_types=[tf.int64],
                    output_shapes=[[]],
                ),
                S([], tf.int64),
            ),
            [1, 4],
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.ShardDataset(
                    input_dataset=E.to_variant(D.range(0)),
                    num_shards=3,
                    index=1,
                    require_non_empty=True,
                    output_types=[tf.int64],
                    output_shapes=[[]],
                ),
                S([], tf.int64),
            ),
            [],
        ),
        (
            lambda: D.from_tensor_slices((fed([1, 2]), fed([1, 2, 3]))),
            "InvalidArgumentError: All components must have the same size in the 0th dimension",
        ),
        (lambda: D.from_tensor_slices(fed(1)), "InvalidArgumentError: All components must be at least 1-dimensional"),
        (
            lambda: D.from_tensor_slices(1),
            'ValueError: Value Tensor("normalize_element/component_0:0", shape=(), dtype=int32) has insufficient ra',
        ),
        (lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])), "ValueError: Dimensions 2 and 3 are not compatible"),
        (
            lambda: D.from_sparse_tensor_slices(tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [3, 2])),
            [[[[0]], [1], [2]], [[], [], [2]], [[[1]], [2], [2]]],
        ),
        (
            lambda: str(E.get_structure(D.from_sparse_tensor_slices(tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [3, 2])))),
            "(TensorSpec(shape=(?, 1), dtype=tf.int64, name=None), TensorSpec(shape=(?,), dtype=tf.int32, name=None), "
            "TensorSpec(shape=(1,), dtype=tf.int64, name=None))",
        ),
        (lambda: D.from_sparse_tensor_slices(3), "TypeError: `sparse_tensor` must be a `tf.SparseTensor` object. Was 3."),
        (
            lambda: D.from_sparse_tensor_slices(tf.SparseTensor([[2, 0], [0, 1]], [1, 2], [3, 2])),
            "UnimplementedError: The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered inpu",
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.SparseTensorSliceDataset(indices=fed([1]), values=[1], dense_shape=np.int64([2])),
                (S([None, 0], tf.int64), S([None], tf.int32), S([0], tf.int64)),
            ),
            "InvalidArgumentError: Input indices should be a matrix but received shape [1]",
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.SparseTensorSliceDataset(indices=fed([[1]]), values=fed([[1]]), dense_shape=np.int64([2])),
                (S([None, 0], tf.int64), S([None], tf.int64), S([0], tf.int64)),
            ),
            "InvalidArgumentError: Input values should be a vector but received shape [1,1]",
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.SparseTensorSliceDataset(indices=fed([[1]]), values=fed([1]), dense_shape=fed([[2]])),
                (S([None, 0], tf.int64), S([None], tf.int64), S([0], tf.int64)),
            ),
            "InvalidArgumentError: Input shape should be a vector but received shape [1,1]",
        ),
        (lambda: D.from_tensors(tf.ragged.constant([[1], [2, 3]])).map(lambda r: r.to_tensor()), [[[1, 0], [2, 3]]]),
        (lambda: D.from_tensors(tf.ragged.constant_value([[1], [2, 3]])).map(lambda r: r.to_tensor()), [[[1, 0], [2, 3]]]),
        (lambda: D.from_tensors(tf.SparseTensorValue([[0]], [1], [2])), [{"indices": [[0]], "values": [1], "dense_shape": [2]}]),
        (
            lambda: str(structure.convert_legacy_structure(tf.int32, tf.TensorShape([None, 2]), tf.TensorArray)),
            "TensorArraySpec(TensorShape([]), tf.int32, None, 2)",
        ),
        (
            lambda: str(structure.convert_legacy_structure(tf.int32, tf.TensorShape([None, 2]), S([3], tf.float32))),
            "TensorSpec(shape=(3,), dtype=tf.float32, name=None)",
        ),
        (
            lambda: str(structure.convert_legacy_structure(tf.int32, tf.TensorShape([None, 2]), int)),
            "TypeError: Could not build a structure for output class <class 'int'>",
        ),
        (
            lambda: str(structure.convert_legacy_structure(tf.int32, tf.TensorShape([None, 2]), tf.SparseTensor)),
            "SparseTensorSpec(TensorShape([Dimension(None), Dimension(2)]), tf.int32)",
        ),
        (
            lambda: structure.to_tensor_list(S([2], tf.int32), tf.constant([1.0, 2.0])),
            "ValueError: Value <tf.Tensor 'Const:0' shape=(2,) dtype=float32> is not convertible to a tensor with d",
        ),
        (
            lambda: str(structure.to_batched_tensor_list(S([2], tf.int32), tf.constant([1, 2]))),
            "[<tf.Tensor 'Const:0' shape=(2,) dtype=int32>]",
        ),
        (
            lambda: structure.from_tensor_list((S([2], tf.int32), S([], tf.int32)), [tf.constant([1, 2])]),
            "ValueError: Expected 2 tensors but got 1.",
        ),
        (
            lambda: structure.from_tensor_list(S([2], tf.int32), [tf.constant([1.0, 2])]),
            'ValueError: Incompatible input: tensor 0 (Tensor("Const:0", shape=(2,), dtype=float32)) is incompatibl',
        ),
        (
            lambda: structure.from_compatible_tensor_list(S([2], tf.int32), [tf.constant([1, 2])] * 2),
            "ValueError: Expected 1 tensors but got 2.",
        ),
        (
            lambda: [
                structure.are_compatible(S([None], tf.int32), S([2], tf.int32)),
                structure.are_compatible(S([3], tf.int32), S([2], tf.int32)),
                structure.are_compatible((S([3], tf.int32),), S([2], tf.int32)),
            ],
            [True, False, False],
        ),
        (lambda: E.get_structure(3), "TypeError: `dataset_or_iterator` must be a Dataset or Iterator object, but got <class 'int'>."),
        (
            lambda: tf.data.get_output_types(3),
            "TypeError: `dataset_or_iterator` must be a Dataset or Iterator object, but got <class 'int'>.",
        ),
        (lambda: D.range(3).apply(E.shuffle_and_repeat(2, 0)), "InvalidArgumentError: count must be greater than zero or equal to -1."),
        (lambda: E.sample_from_datasets([D.range(3)]), [0, 1, 2]),
        (lambda: E.sample_from_datasets([D.range(3), D.range(10, 13)], seed=3), [10, 11, 12, 0, 1, 2]),
        (
            lambda: E.sample_from_datasets([D.range(3), D.range(10, 13)], [1.0]),
            "ValueError: `weights` must be a vector of length `len(datasets)`.",
        ),
        (
            lambda: E.sample_from_datasets([D.range(3), D.range(10, 13)], [1, 2]),
            "TypeError: `weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.",
        ),
        (lambda: E.sample_from_datasets([D.range(5), D.range(10, 15)], [0.9, 0.1], seed=3), [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]),
        (lambda: E.sample_from_datasets([D.range(3)], [0.5]), [0, 1, 2]),
        (
            lambda: E.choose_from_datasets([D.range(3)], D.from_tensors(1)),
            "TypeError: `choice_dataset` must be a dataset of scalar `tf.int64` tensors.",
        ),
        (
            lambda: E.choose_from_datasets([D.range(3)], D.from_tensors(np.int64(1))),
            ["InvalidArgumentError: Selector index out of range: 1 >= 1"],
        ),
        (
            lambda: E.choose_from_datasets([D.range(3), D.from_tensors(1.0)], D.range(2)),
            "TypeError: All datasets must have the same type and class.",
        ),
        (
            lambda: E.choose_from_datasets([D.range(3), D.range(4)], D.from_tensors(np.int64(-1))),
            ["InvalidArgumentError: Selector index out of range: -1 >= 2"],
        ),
    ],
)
def test_elements_and_their_types(made, expected):
    assert shown(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: static(opts()), ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"]),
        (
            lambda: static(opts(experimental_deterministic=False)),
            ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion", "make_sloppy"],
        ),
        (
            lambda: (static(opts(experimental_slack=True)), opts(experimental_slack=True)._static_optimization_configs()),
            (
                ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion", "slack"],
                ["map_vectorization:use_choose_fastest:false", "slack:slack_period:1"],
            ),
        ),
        (lambda: mopt(apply_default_optimizations=False), []),
        (lambda: mopt(apply_default_optimizations=False, map_fusion=True), ["map_fusion"]),
        (lambda: mopt(**dict.fromkeys(REWRITES, True)), REWRITES),
        (lambda: mopt(map_and_batch_fusion=False), ["noop_elimination", "shuffle_and_repeat_fusion"]),
        (lambda: (opts() == opts(), opts(experimental_slack=True) == opts(), opts() == 3, opts() != opts()), (True, False, False, False)),
        (lambda: opts(nothing=1), "AttributeError: Cannot set the property nothing on Options."),
        (
            lambda: opts(experimental_slack=3),
            "TypeError: Property \"experimental_slack\" must be of type <class 'bool'>, got: 3 (type: <class 'int'>)",
        ),
        (
            lambda: [
                getattr(opts(experimental_slack=True).merge(opts(experimental_deterministic=False)), k)
                for k in ("experimental_slack", "experimental_deterministic")
            ],
            [True, False],
        ),
        (
            lambda: opts(experimental_slack=True).merge(opts(experimental_slack=False)),
            "ValueError: Cannot merge incompatible values (True and False) of option: experimental_slack",
        ),
        (lambda: options.merge_options(), "ValueError: At least one options should be provided"),
        (lambda: options.merge_options(1, 2), "TypeError: The inputs should inherit from `OptionsBase`"),
        (lambda: opts(experimental_stateful_whitelist=["a"]).experimental_stateful_whitelist, ["a"]),
        (
            lambda: (opts().experimental_stats.prefix, opts().experimental_stats.counter_prefix, opts().experimental_stats.aggregator),
            ("", "", None),
        ),
        (
            lambda: (opts().experimental_threading.max_intra_op_parallelism, opts().experimental_threading.private_threadpool_size),
            (None, None),
        ),
        (
            lambda: (
                opts().experimental_distribute.auto_shard,
                opts().experimental_distribute._make_stateless,
                opts().experimental_distribute.num_devices,
            ),
            (True, None, None),
        ),
        (stateless, ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion", "make_stateless"]),
        (lambda: with_threads(max_intra_op_parallelism=-1), "InvalidArgumentError: `max_intra_op_parallelism` must be >= 0"),
        (lambda: with_threads(private_threadpool_size=-1), "InvalidArgumentError: `num_threads` must be >= 1"),
        (lambda: with_threads(private_threadpool_size=2), [0, 1]),
        (lambda: dist._RebatchDataset(D.range(7).batch(4), 2), [[0, 1], [2, 3], [4, 5], [6]]),
        (
            lambda: [
                run(E.cardinality(dist._RebatchDataset(D.range(7).batch(4), 2))),
                run(E.cardinality(dist._RebatchDataset(D.range(7).repeat().batch(4), 2))),
                run(E.cardinality(dist._RebatchDataset(D.range(0).batch(4), 2))),
            ],
            [-2, -2, -2],
        ),
        (
            lambda: dist._RebatchDataset(D.range(7), 2),
            "ValueError: Input shape should have at least one dimension. Perhaps your input dataset is not batched?",
        ),
        (
            lambda: [str(E.get_structure(dist._RebatchDataset(D.range(7).batch(4, True), n))) for n in (2, 3)],
            ["TensorSpec(shape=(2,), dtype=tf.int64, name=None)", "TensorSpec(shape=(?,), dtype=tf.int64, name=None)"],
        ),
        (lambda: dist._AutoShardDataset(D.range(7).batch(2), 2, 1), [[2, 3], [6]]),
        (lambda: dist._AutoShardDataset(D.range(1), 2, 1), []),
        (lambda: dist._AutoShardDataset(D.range(7), 2, 2), "InvalidArgumentError: index must be between 0 and 1"),
        (lambda: dist._AutoShardDataset(D.range(7), 0, 0), "InvalidArgumentError: num_workers must be greater than zero."),
        (lambda: D.range(3).apply(opt.assert_next(["Map"])).map(lambda x: x), [0, 1, 2]),
        (
            lambda: D.range(3).apply(opt.assert_next(["Batch"])).map(lambda x: x),
            "InvalidArgumentError: Asserted Batch transformation at offset 0 but encountered Map transformation instead.",
        ),
        (
            lambda: D.range(3).apply(opt.assert_next(["Map", "Batch", "Take", "Zip", "Map", "Map"])).map(lambda x: x),
            "InvalidArgumentError: Asserted next 6 transformations but encountered only 2.",
        ),
        (lambda: D.range(3).apply(opt.assert_next(None)).map(lambda x: x), "ValueError: At least one transformation should be specified"),
        (lambda: run(mapped(tf.range(np.int64(3)))), [[0, 2, 4]]),
        (lambda: run(mapped(tf.zeros([0], tf.int64))), [[]]),
        (lambda: run(mapped(fed(1))), "InvalidArgumentError: All inputs must have rank at least 1. Input 0 has a rank of 0."),
        (
            lambda: run(mapped(tf.constant(1, tf.int64))),
            "ValueError: Arguments must have rank at least 1. Input 0 has rank of 0. for 'MapDefun' (op: 'MapDefun'",
        ),
        (lambda: map_defun.map_defun(doubled(), tf.range(3), [tf.int64], [[]]), "ValueError: `elems` must be a list of tensors."),
        (
            lambda: map_defun.map_defun(doubled(), [tf.range(3)], tf.int64, [[]]),
            "ValueError: `output_dtypes` must be a list of `tf.DType` objects.",
        ),
        (
            lambda: map_defun.map_defun(doubled(), [tf.range(3)], [tf.int64], tf.TensorShape([])),
            "ValueError: `output_shapes` must be a list of `tf.TensorShape` objects.",
        ),
        (lambda: dealt(D.range(5), 2), [[0, 1], [2, 3]]),
        (lambda: dealt(D.range(3), 1), [[0], [1], [2]]),
        (undealt, "FailedPreconditionError: GetNext() failed because the iterator has not been initialized. Ensure that you have run t"),
        (lambda: nest.flatten({"b": 1, "a": (2, P(3, 4))}), [2, 3, 4, 1]),
        (
            lambda: nest.assert_same_structure((1, 2), P(1, 2)),
            "TypeError: The two structures don't have the same nested structure. First structure: type=tuple str=(",
        ),
        (lambda: nest.assert_same_structure((1, 2), P(1, 2), check_types=False), None),
        (lambda: nest.map_structure(lambda x: x), "ValueError: Must provide at least one structure"),
        (lambda: nest.map_structure_up_to((1,), lambda x: x), "ValueError: Cannot map over no sequences"),
        (lambda: nest.map_structure(3, (1,)), "TypeError: func must be callable, got: 3"),
        (lambda: nest.map_structure(lambda x: x, (1,), what=1), "ValueError: Only valid keyword argument is check_types"),
        (
            lambda: nest.pack_sequence_as((1, 2), [1]),
            "ValueError: Could not pack sequence. Structure had 2 elements, but flat_sequence had 1 elements. Struc",
        ),
        (lambda: nest.pack_sequence_as(1, [1, 2]), "ValueError: Structure is a scalar but len(flat_sequence) == 2 > 1"),
        (lambda: nest.pack_sequence_as((1, 2), 3), "TypeError: flat_sequence must be a sequence"),
        (
            lambda: nest.assert_same_structure({"a": 1}, {"b": 1}),
            "ValueError: The two structures don't have the same nested structure. First structure: type=dict str={'",
        ),
        (
            lambda: nest.assert_same_structure((1, 2), (1,)),
            "ValueError: The two structures don't have the same nested structure. First structure: type=tuple str=(",
        ),
        (lambda: nest.flatten_up_to((1, 2), ((3, 4), 5)), [(3, 4), 5]),
        (
            lambda: nest.flatten_up_to((1, 2), (3,)),
            "ValueError: The two structures don't have the same sequence length. Input structure has length 1, whil",
        ),
        (
            lambda: nest.flatten_up_to((1, 2), 3),
            "TypeError: If shallow structure is a sequence, input must also be a sequence. Input has type: <class",
        ),
        (
            lambda: nest.flatten_up_to({"a": 1}, {"b": 1}),
            "ValueError: The two structures don't have the same keys. Input structure has keys ['b'], while shallow",
        ),
        (lambda: dist.replicate(3, ["/cpu:0"]), "TypeError: `dataset` must be a `tf.data.Dataset` object."),
        (lambda: opt_zero(3, [1.5, 2.0]), [0, [0.0, 0.0]]),
        (lambda: opt_zero("a", 1), "InvalidArgumentError: Trying to compute zeros_like for unsupported dtype string"),
        (lambda: opt_sum((1, [2.0]), (3, [4.0])), [4, [6.0]]),
        (opt_none_sum, "InvalidArgumentError: Cannot add optionals because one has a value and the other doesn't."),
        (opt_none, "InvalidArgumentError: The given optional does not have a value."),
        (
            lambda: opt_raw([tf.int32], [[3]]),
            "InvalidArgumentError: The given optional does not match the expected shape for component 0. Expected: [3]. Actua",
        ),
        (lambda: opt_raw([tf.int32, tf.int32], [[2], [2]]), "InvalidArgumentError: The given optional has 1 components, expected 2"),
        (
            lambda: opt_raw([tf.float32], [[2]]),
            "InvalidArgumentError: The given optional does not match the expected type for component 0. Expected: float. Actu",
        ),
        (
            lambda: grown([2]),
            "InvalidArgumentError: The result does not match the expected shape for component 0. Expected: [2]. Actual: [3].",
        ),
        (lambda: agg(D.range(3).apply(E.bytes_produced_stats("size")), "p"), ["p::size"]),
        (lambda: agg(D.range(3).apply(E.latency_stats("lat")), "p"), ["p::lat"]),
        (lambda: with_threads(private_threadpool_size=0), "InvalidArgumentError: `num_threads` must be >= 1"),
    ],
)
def test_options_optionals_and_structures(made, expected):
    assert shown(made) == expected


def test_a_variable_made_in_a_function_belongs_to_the_graph_around_it(session):
    dataset = D.range(3).map(lambda x: x + tf.cast(tf.get_variable("v", initializer=5.0, use_resource=True), tf.int64))
    iterator = tf.data.make_initializable_iterator(dataset)
    session.run(tf.global_variables_initializer())
    session.run(iterator.initializer)
    assert [v.name for v in tf.global_variables()] == ["v:0"]
    assert session.run(iterator.get_next()) == 5


def test_an_iterator_for_devices_is_found_by_its_handle(session):
    iterator = md.MultiDeviceIterator(D.range(6), ["/cpu:0", "/cpu:0"])
    text = tf.raw_ops.MultiDeviceIteratorToStringHandle(multi_device_iterator=iterator._resource)
    handle = tf.placeholder(tf.string, [])
    kind = {"output_types": [tf.int64], "output_shapes": [[]]}
    found = tf.raw_ops.MultiDeviceIteratorFromStringHandle(string_handle=handle, **kind)

    def get(name, shard, incarnation):
        following = tf.raw_ops.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=found, shard_num=shard, incarnation_id=np.int64(incarnation), **kind
        )
        return plain(session.run(following, {handle: name}))

    session.run(iterator.initializer)
    name = session.run(text)
    assert [get(name, 0, 1), get(name, 1, 1), get(name, 1, 1)] == [[0], [1], [3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid incarnation id. Provided: 2; Expected: 1"):
        get(name, 0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no multi-device iterator"):
        get("nothing", 0, 1)


def test_rows_of_several_tensors_are_counted_where_sizes_are_numbers(eager):
    shapes.enable_v2_tensorshape()
    try:
        assert [tuple(map(int, pair)) for pair in D.from_tensor_slices(([1, 2], [3, 4]))] == [(1, 3), (2, 4)]
        with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
            D.from_tensor_slices(([1, 2], [1, 2, 3]))
    finally:
        shapes.disable_v2_tensorshape()
