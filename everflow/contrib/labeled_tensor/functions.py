"""Functions of labeled tensors that know what axes mean: selections by label, reductions, batches, products."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.labeled_tensor.axes import HOME, Axes, Axis, AxisOrderError, concat_axes, get_axis_order
from everflow.contrib.labeled_tensor.core import LabeledTensor, convert_to_labeled_tensor, identity, impose_axis_order, slice_function


def _check_known(names: Iterable[str], lt: LabeledTensor) -> None:
    if unknown := set(names) - set(lt.axes):
        raise ValueError(f"{sorted(unknown)} are not contained in the set of axis names {list(lt.axes)}")


@public(HOME + "select")
def select(labeled_tensor: Any, selection: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """Parts by label: one label, a slice of labels (with both ends) or a list of them for each axis."""
    with tf.name_scope(name, "lt_select", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        _check_known(selection, lt)
        places: dict[str, Any] = {}
        lists: dict[str, list[Any]] = {}
        for axis_name, wanted in selection.items():
            axis = lt.axes[axis_name]
            if axis.labels is None:
                raise ValueError(f"The axis {axis_name} does not have tick labels.")
            if isinstance(wanted, slice):
                if wanted.step is not None:
                    raise NotImplementedError("slicing with a step is not yet supported")
                start = None if wanted.start is None else axis.index(wanted.start)
                places[axis_name] = slice(start, None if wanted.stop is None else axis.index(wanted.stop) + 1)
            elif isinstance(wanted, list):
                lists[axis_name] = wanted
            else:
                places[axis_name] = axis.index(wanted)
        if places and lists:
            raise NotImplementedError("combined slice and list selection is not yet supported")
        if len(lists) > 1:
            raise NotImplementedError("multiple axis list selection is not yet supported")
        if not lists:
            return slice_function(lt, places, name=scope)
        ((axis_name, labels),) = lists.items()
        axis, place = lt.axes[axis_name], list(lt.axes).index(axis_name)
        if not labels:
            tensor = lt.tensor[(slice(None),) * place + (slice(0, 0),)]
            return identity(LabeledTensor(tensor, [Axis(axis_name, 0) if n == axis_name else a for n, a in lt.axes.items()]), name=scope)
        tensor = tf.gather(lt.tensor, [axis.index(label) for label in labels], axis=place, name=scope)
        return LabeledTensor(tensor, [Axis(axis_name, labels) if n == axis_name else a for n, a in lt.axes.items()])


def _check_same(lts: Sequence[LabeledTensor], but: str | None = None) -> None:
    """ValueError unless all have the same axes, but perhaps one."""
    first = [a for a in lts[0].axes.values() if a.name != but]
    for lt in lts[1:]:
        if [a for a in lt.axes.values() if a.name != but] != first or list(lt.axes) != list(lts[0].axes):
            raise ValueError(f"Mismatched axes: {lts[0].axes!r} and {lt.axes!r}")


@public(HOME + "concat")
def concat(labeled_tensors: Sequence[Any], axis_name: str, name: str | None = None) -> LabeledTensor:
    """Tensors one after the other along an axis."""
    with tf.name_scope(name, "lt_concat", labeled_tensors) as scope:
        lts = [convert_to_labeled_tensor(lt) for lt in labeled_tensors]
        if not lts:
            raise ValueError("concat expects at least one tensor, but received none")
        _check_known([axis_name], lts[0])
        _check_same(lts, axis_name)
        joined = concat_axes([lt.axes[axis_name] for lt in lts])
        tensor = tf.concat([lt.tensor for lt in lts], list(lts[0].axes).index(axis_name), name=scope)
        return LabeledTensor(tensor, [joined if n == axis_name else a for n, a in lts[0].axes.items()])


@public(HOME + "pack")
def pack(labeled_tensors: Sequence[Any], new_axis: Any, axis_position: int = 0, name: str | None = None) -> LabeledTensor:
    """Tensors with the same axes beside each other, along a new one."""
    with tf.name_scope(name, "lt_pack", labeled_tensors) as scope:
        lts = [convert_to_labeled_tensor(lt) for lt in labeled_tensors]
        if not lts:
            raise ValueError("pack expects at least one tensor, but received none")
        _check_same(lts)
        axes: list[Any] = list(lts[0].axes.values())
        axes.insert(axis_position, new_axis)
        return LabeledTensor(tf.stack([lt.tensor for lt in lts], axis=axis_position, name=scope), axes)


@public(HOME + "unpack")
def unpack(labeled_tensor: Any, axis_name: str | None = None, name: str | None = None) -> list[LabeledTensor]:
    """The parts of a tensor along an axis, the first if none is named."""
    with tf.name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        names = list(lt.axes)
        axis_name = names[0] if axis_name is None else axis_name
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        axes = lt.axes.remove(axis_name)
        return [LabeledTensor(tensor, axes) for tensor in tf.unstack(lt.tensor, axis=names.index(axis_name), name=scope)]


@public(HOME + "reshape")
def reshape(labeled_tensor: Any, existing_axes: Iterable[str], new_axes: Iterable[Any], name: str | None = None) -> LabeledTensor:
    """Neighbouring axes replaced by others that hold as many elements; one of these may be a name only."""
    with tf.name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        names, existing = list(lt.axes), list(existing_axes)
        _check_known(existing, lt)
        start = names.index(existing[0]) if existing else 0
        if names[start : start + len(existing)] != existing:
            raise AxisOrderError(f"existing_axes {existing} are not a slice of axis names {names}")
        wanted = [Axis(axis, None) if isinstance(axis, str) else axis if isinstance(axis, Axis) else Axis(*axis) for axis in new_axes]
        if sum(axis.size is None for axis in wanted) > 1:
            raise ValueError(f"at most one axis in new_axes can have unknown size, but got {wanted}")
        axes = [*list(lt.axes.values())[:start], *wanted, *list(lt.axes.values())[start + len(existing) :]]
        dynamic = None
        sizes: list[Any] = []
        for axis in axes:
            if axis.size is not None:
                sizes.append(axis.size)
            elif axis in wanted:
                sizes.append(-1)
            else:
                dynamic = tf.shape(lt.tensor) if dynamic is None else dynamic
                sizes.append(dynamic[names.index(axis.name)])
        tensor = tf.reshape(lt.tensor, sizes, name=scope)
        return LabeledTensor(tensor, [axis if axis.size is not None else axis.name for axis in axes])


@public(HOME + "rename_axis")
def rename_axis(labeled_tensor: Any, existing_name: str, new_name: str, name: str | None = None) -> LabeledTensor:
    """One axis under another name."""
    with tf.name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        _check_known([existing_name], lt)
        axis = lt.axes[existing_name]
        return reshape(lt, [existing_name], [Axis(new_name, axis.value)], name=scope)


def _batched(
    function: Callable[..., Any], scope_name: str, labeled_tensors: Sequence[Any], name: str | None, **settings: Any
) -> list[LabeledTensor]:
    """What a function that makes batches of tensors gives, with axes."""
    enqueue_many, size = settings["enqueue_many"], None if settings["allow_smaller_final_batch"] else settings["batch_size"]
    with tf.name_scope(name, scope_name, labeled_tensors) as scope:
        lts = [convert_to_labeled_tensor(lt) for lt in labeled_tensors]
        axes = []
        for lt in lts:
            own = list(lt.axes.values())
            if enqueue_many:
                if not own or own[0].name != "batch":
                    raise ValueError(f"if enqueue_many is True, the first axis must be called batch, but got {list(lt.axes)}")
                own = own[1:]
            axes.append([Axis("batch", size), *own])
        found = function([lt.tensor for lt in lts], name=scope, **settings)
        found = [found] if len(lts) == 1 and not isinstance(found, (list, tuple)) else found
        return [LabeledTensor(tensor, own) for tensor, own in zip(found, axes)]


@public(HOME + "batch")
def batch(
    labeled_tensors: Sequence[Any],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches from a queue, with an axis `batch`; see tf.train.batch."""
    return _batched(tf.train.batch, "lt_batch", **locals())


@public(HOME + "shuffle_batch")
def shuffle_batch(
    labeled_tensors: Sequence[Any],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Shuffled batches from a queue, with an axis `batch`; see tf.train.shuffle_batch."""
    return _batched(tf.train.shuffle_batch, "lt_shuffle_batch", **locals())


@public(HOME + "random_crop")
def random_crop(labeled_tensor: Any, shape_map: Mapping[str, int], seed: int | None = None, name: str | None = None) -> LabeledTensor:
    """A random part of the given sizes; axes that are cropped lose their labels."""
    with tf.name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        for axis_name in shape_map:
            if axis_name not in lt.axes:
                raise ValueError(f"Selection axis {axis_name} not in axes {list(lt.axes)}")
        axes = [Axis(n, shape_map[n]) if n in shape_map else a for n, a in lt.axes.items()]
        return LabeledTensor(tf.random_crop(lt.tensor, [len(axis) for axis in axes], seed=seed, name=scope), axes)


@public(HOME + "map_fn")
def map_fn(fn: Callable[[LabeledTensor], LabeledTensor], labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """What a function gives for each part along the first axis."""
    with tf.name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        first, *others = lt.axes.values()
        results: list[LabeledTensor] = []

        def mapped(tensor: Any) -> Any:
            results.append(fn(LabeledTensor(tensor, others)))
            return results[-1].tensor

        # What the function gives for any part says its type.
        sample = None
        if all(axis.size is not None for axis in others):
            with tf.name_scope("sample"):
                sample = fn(LabeledTensor(tf.zeros([len(axis) for axis in others], lt.dtype), others))
        tensor = tf.map_fn(mapped, lt.tensor, dtype=None if sample is None else sample.dtype, name=scope)
        return LabeledTensor(tensor, [first, *results[-1].axes.values()])


@public(HOME + "foldl")
def foldl(
    fn: Callable[[LabeledTensor, LabeledTensor], LabeledTensor], labeled_tensor: Any, initial_value: Any, name: str | None = None
) -> LabeledTensor:
    """Folds a function of what was found so far and the next part over the first axis."""
    with tf.name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        lt, start = convert_to_labeled_tensor(labeled_tensor), convert_to_labeled_tensor(initial_value)
        others = list(lt.axes.values())[1:]

        def folded(accumulated: Any, element: Any) -> Any:
            return fn(LabeledTensor(accumulated, start.axes), LabeledTensor(element, others)).tensor

        return LabeledTensor(tf.foldl(folded, lt.tensor, initializer=start.tensor, name=scope), start.axes)


@public(HOME + "squeeze")
def squeeze(labeled_tensor: Any, axis_names: Iterable[str] | None = None, name: str | None = None) -> LabeledTensor:
    """The tensor without axes of size 1: the named ones, or all."""
    with tf.name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        names = [n for n, a in lt.axes.items() if a.size == 1] if axis_names is None else list(axis_names)
        for axis_name in names:
            if axis_name not in lt.axes:
                raise ValueError(f"axis {axis_name} is not in tensor axes.")
            if lt.axes[axis_name].size != 1:
                raise ValueError(f"cannot squeeze axis with size greater than 1: ({axis_name}, {lt.axes[axis_name].size})")
        kept = [a for n, a in lt.axes.items() if n not in names]
        if not names:
            return identity(lt, name=scope)
        return LabeledTensor(tf.squeeze(lt.tensor, [i for i, n in enumerate(lt.axes) if n in names], name=scope), kept)


@public(HOME + "matmul")
def matmul(a: Any, b: Any, name: str | None = None) -> LabeledTensor:
    """The product of vectors and matrices that have one axis in common, which is summed over."""
    with tf.name_scope(name, "lt_matmul", [a, b]) as scope:
        a, b = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        ranks = len(a.axes), len(b.axes)
        if 0 in ranks:
            raise ValueError("matmul currently requires inputs with at least rank 1")
        if max(ranks) > 2:
            raise NotImplementedError(f"matmul currently only supports inputs with rank 2 or less, but got ranks {ranks}")
        common = set(a.axes) & set(b.axes)
        if len(common) > 1:
            raise NotImplementedError(f"matmul currently only supports inputs with exactly one axis in common, but got {sorted(common)}")
        if not common:
            raise ValueError("matmul currently requires inputs with exactly one axis in common")
        (shared,) = common
        if a.axes[shared] != b.axes[shared]:
            raise ValueError(f"axis {shared!r} does not match: {a.axes[shared]!r} and {b.axes[shared]!r}")
        order = get_axis_order()
        own = [n for lt in (a, b) for n in lt.axes if n != shared]
        if order is not None and own != sorted(own, key=order.index):
            a, b = b, a
        left = a.tensor if len(a.axes) == 2 else tf.expand_dims(a.tensor, 0)
        right = b.tensor if len(b.axes) == 2 else tf.expand_dims(b.tensor, 1)
        product = tf.matmul(
            left,
            right,
            transpose_a=len(a.axes) == 2 and list(a.axes)[0] == shared,
            transpose_b=len(b.axes) == 2 and list(b.axes)[1] == shared,
        )
        axes = [axis for lt in (a, b) for n, axis in lt.axes.items() if n != shared]
        alone = [i for i, lt in enumerate((a, b)) if len(lt.axes) == 1]
        result = LabeledTensor(tf.squeeze(product, alone, name=scope) if alone else tf.identity(product, name=scope), axes)
        return impose_axis_order(result) if order is not None else result


@public(HOME + "define_reduce_op")
def define_reduce_op(op_name: str, reduce_fn: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """A reduction of labeled tensors from one of tensors."""
    scope_name = f"lt_{op_name}"

    def op(labeled_tensor: Any, axes: Any = None, name: str | None = None) -> LabeledTensor:
        with tf.name_scope(name, scope_name, [labeled_tensor]) as scope:
            lt = convert_to_labeled_tensor(labeled_tensor)
            wanted = list(lt.axes) if axes is None else [axes] if isinstance(axes, (str, tuple)) else list(axes)
            # A pair of name and label keeps the axis, with that label.
            kept = {axis[0]: axis[1] for axis in wanted if isinstance(axis, tuple)}
            dropped = {axis for axis in wanted if isinstance(axis, str)}
            _check_known([*kept, *dropped], lt)
            places = {n: i for i, n in enumerate(lt.axes)}
            tensor = lt.tensor
            if kept:
                tensor = reduce_fn(tensor, sorted(places[n] for n in kept), keepdims=True)
            tensor = reduce_fn(tensor, sorted(places[n] for n in dropped)) if dropped else tensor
            found = [Axis(n, [kept[n]]) if n in kept else a for n, a in lt.axes.items() if n not in dropped]
            return LabeledTensor(tf.identity(tensor, name=scope), found)

    op.__doc__ = f"Computes tf.{op_name} over axes (all by default) of a labeled tensor; a pair of name and label keeps an axis."
    op.__name__ = op_name
    return op


for _name in ("reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum"):
    public(HOME + _name)(define_reduce_op(_name, getattr(tf, _name)))


@public(HOME + "tile")
def tile(labeled_tensor: Any, multiples: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """The tensor repeated along axes without labels."""
    with tf.name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        _check_known(multiples, lt)
        if labeled := [n for n in multiples if lt.axes[n].labels is not None]:
            raise ValueError(f"cannot tile axes with tick labels: {labeled!r}")
        axes = [n if n in multiples else a for n, a in lt.axes.items()]
        return LabeledTensor(tf.tile(lt.tensor, [multiples.get(n, 1) for n in lt.axes], name=scope), axes)


@public(HOME + "pad")
def pad(labeled_tensor: Any, paddings: Mapping[str, tuple[Any, Any]], mode: str = "CONSTANT", name: str | None = None) -> LabeledTensor:
    """Padding before and after axes: how much, or lists of the labels that the new places have."""
    with tf.name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        _check_known(paddings, lt)
        axes: list[Axis] = []
        amounts = []
        for axis_name, axis in lt.axes.items():
            if axis_name not in paddings:
                axes.append(axis)
                amounts.append((0, 0))
                continue
            before, after = (Axis(axis_name, part) for part in paddings[axis_name])
            axes.append(concat_axes([before, axis, after]))
            amounts.append((len(before), len(after)))
        return LabeledTensor(tf.pad(lt.tensor, amounts, mode, name=scope), axes)


@public(HOME + "constant")
def constant(value: Any, dtype: Any = None, axes: Any = None, name: str | None = None) -> LabeledTensor:
    """A constant; of the shape of the axes where all have a size."""
    with tf.name_scope(name, "lt_constant", [value]) as scope:
        given = [] if axes is None else list(axes.values() if isinstance(axes, Axes) else axes)
        sizes = [None if isinstance(a, str) else (a if isinstance(a, Axis) else Axis(*a)).size for a in given]
        shape = sizes if given and None not in sizes else None
        return LabeledTensor(tf.constant(value, dtype=dtype, shape=shape, name=scope), given)


def _like(op_name: str, function: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    def like(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
        with tf.name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            lt = convert_to_labeled_tensor(labeled_tensor)
            return LabeledTensor(function(lt.tensor, dtype=dtype, name=scope), lt.axes)

    like.__name__, like.__doc__ = op_name, f"Computes tf.{op_name} of a labeled tensor: the same axes."
    return public(HOME + op_name)(like)


zeros_like = _like("zeros_like", tf.zeros_like)
ones_like = _like("ones_like", tf.ones_like)
cast = _like("cast", tf.cast)


@public(HOME + "verify_tensor_all_finite")
def verify_tensor_all_finite(labeled_tensor: Any, message: str, name: str | None = None) -> LabeledTensor:
    """The tensor, if it has neither NaN nor infinity."""
    with tf.name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        lt = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.verify_tensor_all_finite(lt.tensor, msg=message, name=scope), lt.axes)


@public(HOME + "boolean_mask")
def boolean_mask(labeled_tensor: Any, mask: Any, name: str | None = None) -> LabeledTensor:
    """The parts along the first axis where a mask of that axis is true."""
    with tf.name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        lt, mask = convert_to_labeled_tensor(labeled_tensor), convert_to_labeled_tensor(mask)
        if len(mask.axes) > 1:
            raise NotImplementedError("LabeledTensor's boolean_mask currently only supports 1D masks")
        first = list(lt.axes.values())[0]
        if first != list(mask.axes.values())[0]:
            raise ValueError(f"the first axis of the labeled tensor and the mask are not equal:\n{first!r}\n{mask.axes!r}")
        tensor = tf.boolean_mask(lt.tensor, mask.tensor, name=scope)
        return LabeledTensor(tensor, [Axis(first.name, None), *list(lt.axes.values())[1:]])


@public(HOME + "where")
def where(condition: Any, x: Any, y: Any, name: str | None = None) -> LabeledTensor:
    """Elements of one of two tensors with the same axes, as a third says."""
    with tf.name_scope(name, "lt_where", [condition, x, y]) as scope:
        condition, x, y = (convert_to_labeled_tensor(lt) for lt in (condition, x, y))
        if not condition.axes == x.axes == y.axes:
            raise ValueError("all inputs to `where` must have equal axes")
        return LabeledTensor(tf.where(condition.tensor, x.tensor, y.tensor, name=scope), x.axes)


@public(HOME + "ReshapeCoder")
class ReshapeCoder:
    """Replaces axes by others and, later, puts them back."""

    def __init__(self, existing_axis_names: Iterable[str], new_axes: Iterable[Any], name: str | None = None) -> None:
        self._existing, self._new, self._name = list(existing_axis_names), list(new_axes), name
        self._existing_axes: list[Axis] | None = None

    def encode(self, labeled_tensor: Any) -> LabeledTensor:
        """The tensor with the new axes."""
        with tf.name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            lt = convert_to_labeled_tensor(labeled_tensor)
            _check_known(self._existing, lt)
            self._existing_axes = [lt.axes[n] for n in self._existing]
            return reshape(lt, self._existing, self._new, name=scope)

    def decode(self, labeled_tensor: Any) -> LabeledTensor:
        """A tensor with the new axes, with the axes that there were."""
        if self._existing_axes is None:
            raise ValueError("decode called before encode")
        with tf.name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            lt = convert_to_labeled_tensor(labeled_tensor)
            names = [axis if isinstance(axis, str) else axis.name if isinstance(axis, Axis) else axis[0] for axis in self._new]
            return reshape(lt, names, self._existing_axes, name=scope)


@public(HOME + "placeholder")
def placeholder(dtype: Any, axes: Iterable[Any], name: str | None = None) -> LabeledTensor:
    """A placeholder with axes."""
    with tf.name_scope(name, "lt_placeholder", []) as scope:
        full = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
        return LabeledTensor(tf.placeholder(dtype, [a.size for a in full.values()], name=scope), full)


@public(HOME + "FixedLenFeature")
class FixedLenFeature:
    """A feature of an example with axes, all of known size."""

    def __init__(self, axes: Iterable[Any], dtype: Any, default_value: Any = None) -> None:
        self._axes, self._dtype, self._default_value = Axes(list(axes)), dtype, default_value

    @property
    def axes(self) -> Axes:
        """Its axes."""
        return self._axes

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self._dtype

    @property
    def default_value(self) -> Any:
        """What an example without it has."""
        return self._default_value


def _plain(features: Mapping[str, FixedLenFeature]) -> dict[str, Any]:
    """The features as tf.parse_example takes them."""
    plain = {}
    for key, feature in features.items():
        sizes = [axis.size for axis in feature.axes.values()]
        if None in sizes:
            raise ValueError(f"axes with unknown size are not supported: {feature.axes!r}")
        plain[key] = tf.FixedLenFeature(sizes, feature.dtype, feature.default_value)
    return plain


@public(HOME + "parse_example")
def parse_example(
    serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, LabeledTensor]:
    """{key: feature with the axis of the examples in front}; see tf.parse_example."""
    serialized = convert_to_labeled_tensor(serialized)
    with tf.name_scope(name, "lt_parse_example", [serialized, example_names]) as scope:
        found = tf.parse_example(serialized.tensor, _plain(features), name=scope, example_names=example_names)
        (batch_axis,) = serialized.axes.values()
        return {key: LabeledTensor(tensor, [batch_axis, *features[key].axes.values()]) for key, tensor in found.items()}


@public(HOME + "parse_single_example")
def parse_single_example(
    serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, LabeledTensor]:
    """{key: feature} of one example; see tf.parse_single_example."""
    serialized = convert_to_labeled_tensor(serialized)
    with tf.name_scope(name, "lt_parse_single_example", [serialized, example_names]) as scope:
        found = tf.parse_single_example(serialized.tensor, _plain(features), name=scope, example_names=example_names)
        return {key: LabeledTensor(tensor, features[key].axes) for key, tensor in found.items()}
