"""Iterators: what reads a dataset, element by element."""

from __future__ import annotations

import warnings
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.data import nesting, structure
from everflow.data.saving import iterator_saveable
from everflow.eager.context import executing_eagerly
from everflow.errors import OutOfRangeError
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.defun import Defun
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.trackable import Trackable
from everflow.graph.type_spec import CompositeTensor, TypeSpec
from everflow.ops.core.registry import apply
from everflow.ops.random.seeds import DEFAULT_GRAPH_SEED

GLOBAL_ITERATORS = internal("data.ops.iterator_ops.GLOBAL_ITERATORS")("iterators")
# A program that asks for so many next elements most likely does so in its training loop.
MANY_CALLS = internal("data.ops.iterator_ops.GET_NEXT_CALL_WARNING_THRESHOLD")(32)
WARNING = internal("data.ops.iterator_ops.GET_NEXT_CALL_WARNING_MESSAGE")(
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that `Iterator.get_next()` is being called "
    "inside a training loop, which will cause gradual slowdown and eventual resource exhaustion. If this is the case, restructure your "
    "code to call `next_element = iterator.get_next()` once outside the loop, and use `next_element` as the input to some computation "
    "that is invoked inside the loop."
)


class _WithLegacyStructure:
    """The structure of the elements by its older names."""

    element_spec: Any

    @property
    def output_classes(self) -> Any:
        """The Python types of the elements' components."""
        return structure.legacy_classes(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements' components."""
        return structure.legacy_shapes(self.element_spec)

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements' components."""
        return structure.legacy_types(self.element_spec)


@public("data.Iterator", "compat.v1.data.Iterator")
@internal("data.ops.iterator_ops.Iterator")
class Iterator(_WithLegacyStructure, Trackable):
    """An iterator of a graph: `get_next()` gives tensors that are the next element each time they are computed."""

    def __init__(self, iterator_resource: Tensor, initializer: Any, output_types: Any, output_shapes: Any, output_classes: Any) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        if any(x is None for x in (output_types, output_shapes, output_classes)):
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and `output_classes` must be specified."
            )
        self._element_spec = structure.convert_legacy_structure(output_types, output_shapes, output_classes)
        self._start()

    @classmethod
    def _of(cls, resource: Tensor, initializer: Any, element_spec: Any) -> Iterator:
        self = cls.__new__(cls)
        self._iterator_resource, self._initializer, self._element_spec = resource, initializer, element_spec
        self._start()
        return self

    def _start(self) -> None:
        self._string_handle = apply("IteratorToStringHandle", self._iterator_resource)
        self._get_next_call_count = 0
        get_default_graph().add_to_collection(GLOBAL_ITERATORS, self._iterator_resource)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return {
            "output_types": structure.get_flat_tensor_types(self._element_spec),
            "output_shapes": structure.get_flat_tensor_shapes(self._element_spec),
        }

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None
    ) -> Iterator:
        """An iterator that can be initialized with any dataset of this structure."""
        element_spec = _declared_structure(output_types, output_shapes, output_classes)
        resource = apply(
            "IteratorV2",
            container="",
            shared_name=shared_name or "",
            output_types=structure.get_flat_tensor_types(element_spec),
            output_shapes=structure.get_flat_tensor_shapes(element_spec),
        )
        return Iterator._of(resource, None, element_spec)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None) -> Iterator:
        """The iterator whose handle is given, often by a feed."""
        element_spec = _declared_structure(output_types, output_shapes, output_classes)
        string_handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        resource = apply(
            "IteratorFromStringHandleV2",
            string_handle,
            output_types=structure.get_flat_tensor_types(element_spec),
            output_shapes=structure.get_flat_tensor_shapes(element_spec),
        )
        return Iterator._of(resource, None, element_spec)

    @property
    def initializer(self) -> Operation:
        """The op that starts the iterator."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An op that starts the iterator at the beginning of a dataset of its structure."""
        with tf.name_scope(name, "make_initializer") as name:
            ours, theirs = self._element_spec, structure.get_structure(dataset)
            types, other_types = structure.legacy_types(ours), structure.legacy_types(theirs)
            nesting.assert_same_structure(types, other_types)
            nesting.assert_same_structure(structure.legacy_shapes(ours), structure.legacy_shapes(theirs))
            for a, b in zip(nesting.flatten(structure.legacy_classes(ours)), nesting.flatten(structure.legacy_classes(theirs))):
                if a is not b and not (isinstance(a, TypeSpec) and isinstance(b, TypeSpec)):
                    raise TypeError(
                        f"Expected output classes {self.output_classes!r} but got dataset with output class "
                        f"{structure.legacy_classes(theirs)!r}."
                    )
            for a, b in zip(nesting.flatten(types), nesting.flatten(other_types)):
                if not isinstance(a, TypeSpec) and a != b:
                    raise TypeError(f"Expected output types {types!r} but got dataset with output types {other_types!r}.")
            for a, b in zip(nesting.flatten(ours), nesting.flatten(theirs)):
                if not a.is_compatible_with(b):
                    raise TypeError(
                        f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output shapes "
                        f"{structure.legacy_shapes(theirs)!r}."
                    )
            with tf.colocate_with(self._iterator_resource):
                return apply("MakeIterator", dataset._variant_tensor, self._iterator_resource, name=name)

    def get_next(self, name: str | None = None) -> Any:
        """The next element, as tensors."""
        self._get_next_call_count += 1
        if self._get_next_call_count > MANY_CALLS:
            warnings.warn(WARNING, stacklevel=2)
        with tf.colocate_with(self._iterator_resource):
            flat = apply("IteratorGetNext", self._iterator_resource, name=name, **self._flat_structure)
        return structure.from_tensor_list(self._element_spec, flat)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string that stands for the iterator in feeds."""
        return self._string_handle if name is None else apply("IteratorToStringHandle", self._iterator_resource, name=name)

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._element_spec

    def _gather_saveables_for_checkpoint(self) -> Any:
        return {"ITERATOR": lambda name: iterator_saveable(self._iterator_resource, name)}


def _declared_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    types = nesting.map_structure(dtypes.as_dtype, output_types)
    if output_shapes is None:
        given = nesting.map_structure(lambda _: shapes.unknown_shape(), types)
    else:
        given = nesting.map_structure_up_to(types, shapes.as_shape, output_shapes)
    classes = nesting.map_structure(lambda _: Tensor, types) if output_classes is None else output_classes
    nesting.assert_same_structure(types, given)
    return structure.convert_legacy_structure(types, given, classes)


def initializable_iterator(dataset: Any, shared_name: str | None) -> Iterator:
    """An iterator with an initializer for this dataset."""
    foreign = _other_graph(dataset)
    if foreign is not None:
        raise ValueError(foreign)
    applied = dataset._apply_options()
    resource = apply("IteratorV2", container="", shared_name=shared_name or "", **dataset._flat_structure)
    with tf.colocate_with(resource):
        initializer = apply("MakeIterator", applied._variant_tensor, resource)
    return Iterator._of(resource, initializer, dataset.element_spec)


def one_shot_iterator(dataset: Any) -> Iterator:
    """An iterator that makes its dataset, a copy of this one, at its first use."""
    foreign = _other_graph(dataset)
    if foreign is not None:
        tf.logging.warning(foreign)
    graph_seed, op_seed = tf.get_seed(None)

    @Defun(capture_by_value=True, whitelisted_stateful_ops=dataset_ops_of(dataset))
    def _make_dataset() -> Tensor:
        if graph_seed is not None and op_seed is not None:
            tf.set_random_seed((graph_seed + DEFAULT_GRAPH_SEED * op_seed) % (2**63 - 1))
        return dataset._apply_options()._variant_tensor

    try:
        _make_dataset.add_to_graph(get_default_graph())
    except ValueError as error:
        if "Cannot capture a stateful node" in str(error):
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does not support datasets that "
                "capture stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
                f"`Dataset.make_initializable_iterator()`. (Original error: {error})"
            ) from None
        raise
    resource = apply("OneShotIterator", dataset_factory=_make_dataset, **dataset._flat_structure)
    return Iterator._of(resource, None, dataset.element_spec)


@internal("data.util.traverse.obtain_all_variant_tensor_ops")
def dataset_ops_of(dataset: Any) -> list[Operation]:
    """The ops of a dataset and of all that it is made of."""
    found: dict[Operation, None] = {}
    stack = [dataset._variant_tensor.op]
    while stack:
        op = stack.pop()
        if op not in found:
            found[op] = None
            stack.extend(t.op for t in op.inputs)
    return [op for op in found if any(t.dtype == dtypes.variant for t in op.outputs)]


def _other_graph(dataset: Any) -> str | None:
    """What is wrong where a dataset is not read in the graph in which it was made."""
    current = get_default_graph()
    seen: set[int] = set()
    stack = [dataset]
    while stack:
        d = stack.pop()
        if id(d) in seen:
            continue
        seen.add(id(d))
        if isinstance(d._graph, Graph) and not _reaches(d._graph, current):
            return (
                f"The graph ({current}) of the iterator is different from the graph ({d._graph}) the dataset: {d._variant_tensor} was "
                "created in. If you are using the Estimator API, make sure that no part of the dataset returned by the `input_fn` function "
                "is defined outside the `input_fn` function. Please ensure that all datasets in the pipeline are created in the same graph "
                "as the iterator."
            )
        stack.extend(d._inputs())
    return None


def _reaches(graph: Graph, current: Any) -> bool:
    while current is not None:
        if current is graph:
            return True
        current = current.outer_graph
    return False


@internal("data.ops.iterator_ops.IteratorResourceDeleter")
class IteratorResourceDeleter:
    """Lets an iterator's resource go when the Python object that holds it goes."""

    def __init__(self, handle: Tensor, device: Any, deleter: Tensor) -> None:
        self._handle, self._device, self._deleter = handle, device, deleter
        self._eager_mode = executing_eagerly()

    def __del__(self) -> None:
        if self._eager_mode and executing_eagerly():
            apply("DeleteIterator", self._handle, self._deleter)


# No function has so many elements of a dataset written out.
_MOST_IN_A_FUNCTION = 10_000


@internal("data.ops.iterator_ops.IteratorV2")
class IteratorV2(_WithLegacyStructure, Trackable, CompositeTensor):
    """An iterator of Python: `for element in dataset`, eagerly or in a function."""

    def __init__(self, dataset: Any = None, components: Any = None, element_spec: Any = None) -> None:
        # Made while a function is being built; and how often an element was asked for there.
        self._times_asked = 0
        self._is_symbolic = dataset is not None and not executing_eagerly()
        if dataset is None:
            if components is None or element_spec is None:
                raise ValueError("Either `dataset` or both `components` and `element_spec` need to be provided.")
            self._element_spec = element_spec
            self._iterator_resource, self._deleter = components
        else:
            if components or element_spec:
                raise ValueError("When `dataset` is provided, `element_spec` and `components` must not be specified.")
            dataset = dataset._apply_options()
            # The variant's own memory lives as long as the dataset does.
            self._dataset = dataset
            self._element_spec = dataset.element_spec
            self._iterator_resource, self._deleter = apply("AnonymousIteratorV2", **self._flat_structure)
            apply("MakeIterator", dataset._variant_tensor, self._iterator_resource)
            self._resource_deleter = IteratorResourceDeleter(self._iterator_resource, None, self._deleter)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return {
            "output_types": structure.get_flat_tensor_types(self._element_spec),
            "output_shapes": structure.get_flat_tensor_shapes(self._element_spec),
        }

    def __iter__(self) -> IteratorV2:
        return self

    def __next__(self) -> Any:
        if self._is_symbolic:
            self._times_asked += 1
            if self._times_asked > _MOST_IN_A_FUNCTION:
                # A loop in Python would go on for ever: where the dataset ends is known only when the function runs.
                raise RuntimeError(
                    "A dataset can be iterated over to its end in Python only when ops run at once. Inside of a function that is not "
                    "converted use `next(iterator)` as often as there are elements, or `dataset.reduce()`."
                )
        return self.next()

    def next(self) -> Any:
        """The next element; StopIteration at the end."""
        try:
            return self._next_internal()
        except OutOfRangeError:
            raise StopIteration from None

    def _next_internal(self) -> Any:
        op_type = "IteratorGetNextSync" if executing_eagerly() else "IteratorGetNext"
        return structure.from_compatible_tensor_list(self._element_spec, apply(op_type, self._iterator_resource, **self._flat_structure))

    def get_next(self, name: str | None = None) -> Any:
        """The next element; OutOfRangeError at the end."""
        return self._next_internal()

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._element_spec

    @property
    def _type_spec(self) -> Any:
        return IteratorSpec(self._element_spec)

    def _gather_saveables_for_checkpoint(self) -> Any:
        return {"ITERATOR": lambda name: iterator_saveable(self._iterator_resource, name)}


@public("contrib.eager.Iterator")
class EagerIterator(IteratorV2):
    """An iterator over a dataset, by its older name."""

    def __init__(self, dataset: Any) -> None:
        super().__init__(dataset)


@internal("data.ops.iterator_ops.IteratorSpec")
class IteratorSpec(TypeSpec):
    """Iterators over elements of these types."""

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def value_type(self) -> type:
        """Iterators."""
        return IteratorV2

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return TensorSpec([], dtypes.resource), TensorSpec([], dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._iterator_resource, value._deleter

    def _from_components(self, components: Any) -> Any:
        return IteratorV2(components=components, element_spec=self._element_spec)

    @staticmethod
    def from_value(value: Any) -> Any:
        """The type of an iterator."""
        return IteratorSpec(value.element_spec)


internal("data.ops.iterator_ops.OwnedIterator")(IteratorV2)
