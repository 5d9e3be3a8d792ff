"""The variables that tf.get_variable has made in a graph, by name: made at the first use and shared afterwards."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import api
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, add_to_collections, colocate_with, get_collection_ref, init_scope, name_scope
from everflow.graph.shapes import as_shape
from everflow.graph.stacks import in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.variables.partitioned import PartitionedVariable, PartitionInfo, partitions_of, slice_axis_and_count, slices_along
from everflow.ops.variables.resource_variables import ResourceVariable
from everflow.ops.variables.variables import SaveSliceInfo, VariableAggregation, VariableSynchronization, VariableV1, checked_modes

STORE_KEY = internal("ops.variable_scope._VARSTORE_KEY")(("__variable_store",))


def takes(function: Any, name: str) -> bool:
    """Whether a function has a parameter of this name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def takes_any(function: Any) -> bool:
    """Whether a function takes any keyword argument."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def _needs_arguments(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


@internal("ops.variable_scope._VariableStore")
class VariableStore:
    """Variables by full name."""

    def __init__(self) -> None:
        self._vars: dict[str, Any] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}
        self._store_eager_variables = False

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        reuse: Any = None,
        trainable: Any = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """The variable of this name: found or made, as `reuse` says (None makes or raises, True finds or raises)."""
        if in_eager_mode():
            if not self._store_eager_variables and reuse is True:
                raise RuntimeError(
                    "When eager execution is enabled variable reuse is only supported when an EagerVariableStore is active. See the "
                    "documentation on EagerVariableStore for example usage."
                )
            reuse, use_resource = api.find("AUTO_REUSE") if self._store_eager_variables else False, True
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        if hasattr(dtype, "base_dtype"):
            dtype = dtype.base_dtype
        synchronization, aggregation, trainable = checked_modes(synchronization, aggregation, trainable, name)
        arguments = dict(locals())
        for own in ("self", "custom_getter", "constraint"):
            del arguments[own]
        if custom_getter is None:
            return self._get(constraint=constraint, **arguments)
        if takes(custom_getter, "constraint") or takes_any(custom_getter):
            arguments["constraint"] = constraint
        return custom_getter(getter=self._get, **arguments)

    def _get(
        self,
        name: str,
        shape: Any = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """What a custom getter asks in turn."""
        rest = {
            "name": name,
            "shape": shape,
            "dtype": dtype,
            "initializer": initializer,
            "regularizer": regularizer,
            "reuse": reuse,
            "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device,
            "validate_shape": validate_shape,
            "use_resource": use_resource,
            "constraint": constraint,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        is_scalar = isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and in_eager_mode():
            raise ValueError("Partitioned variables are not yet supported when eager execution is enabled.")
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self._get_partitioned_variable(partitioner=partitioner, **rest)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._get_partitioned_variable(partitioner=None, **rest)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. "
                "Perhaps a variable of the same name was already created with partitioning?"
            )
        return self._get_single_variable(**rest)

    def _get_partitioned_variable(
        self,
        name: str,
        partitioner: Any,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> PartitionedVariable:
        if name in self._vars:
            raise ValueError(
                f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}.  Perhaps "
                "a variable of the same name was already created without partitioning?"
            )
        shape = as_shape(shape)
        if isinstance(initializer, Tensor):
            shape = shape.merge_with(initializer.get_shape())
        any_partitions = bool(reuse) and not partitioner
        partitions = None if any_partitions else partitions_of(partitioner, shape, dtype)
        if name in self._partitioned_vars:
            return self._shared_partitioned(name, shape, dtype, partitions, reuse, any_partitions)
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
                "to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        axis, count = slice_axis_and_count(partitions)
        self._check_parts(name, count)
        parts = []
        sizes = shape.as_list()
        for i, (offset, part_shape) in enumerate(slices_along(sizes, count, axis)):
            part_name = f"{name}/part_{i}"
            with name_scope(part_name + "/PartitionedInitializer"):
                initial, initial_shape = self._part_initializer(name, shape, dtype, initializer, offset, part_shape)
            if isinstance(initial, Tensor):
                dtype = initial.dtype.base_dtype
            with name_scope(None):
                part = self._get_single_variable(
                    name=part_name,
                    shape=initial_shape,
                    dtype=dtype,
                    initializer=initial,
                    partition_info=PartitionInfo(sizes, offset),
                    regularizer=regularizer,
                    reuse=reuse,
                    trainable=trainable,
                    collections=collections,
                    caching_device=caching_device,
                    validate_shape=validate_shape,
                    use_resource=use_resource,
                    constraint=constraint,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
            part._set_save_slice_info(SaveSliceInfo(name, sizes, offset, part_shape))
            parts.append(part)
        found = PartitionedVariable(name=name, shape=shape, dtype=dtype, variable_list=parts, partitions=partitions)
        self._partitioned_vars[name] = found
        return found

    def _shared_partitioned(self, name: str, shape: Any, dtype: dtypes.DTypeLike, partitions: Any, reuse: Any, any_partitions: bool) -> Any:
        if reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            )
        found = self._partitioned_vars[name]
        what = f"Trying to reuse partitioned variable {name}, but specified"
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(f"{what} shape {shape} and found shape {found.get_shape()}.")
        if not dtypes.as_dtype(dtype).is_compatible_with(found.dtype):
            raise ValueError(f"{what} dtype {dtypes.as_dtype(dtype).name} and found dtype {found.dtype.name}.")
        if not any_partitions and found._get_partitions() != partitions:
            raise ValueError(f"{what} partitions {partitions} and found partitions {found._get_partitions()}.")
        return found

    def _check_parts(self, name: str, count: int) -> None:
        if f"{name}/part_0" not in self._vars:
            return
        different = (
            f"Partitioner returned a different partitioning than what was already found.  Partitioner returned {count} "
            f"shards, and shard {name}/part_0 was found, but"
        )
        if f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"{different} {name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self._vars:
            raise ValueError(f"{different} so was the extra shard {name}/part_{count}.")

    def _part_initializer(
        self, name: str, shape: Any, dtype: dtypes.DTypeLike, initializer: Any, offset: Any, part_shape: Any
    ) -> tuple[Any, Any]:
        """The initializer of one part and the shape to ask it for (None where it is a value)."""
        if initializer is None:
            initializer, is_value = self._get_default_initializer(name=name, shape=shape, dtype=dtype)
            return initializer, None if is_value else part_shape
        if callable(initializer):
            return initializer, part_shape
        if not isinstance(initializer, Tensor):
            initializer = convert_to_tensor(initializer, dtype)
        return api.find("slice")(initializer, offset, part_shape), None

    def _get_single_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        partition_info: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        is_value = initializer is not None and not callable(initializer)
        if shape is not None and is_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype, shape = dtypes.as_dtype(dtype), as_shape(shape)
        keeps = not in_eager_mode() or self._store_eager_variables
        if name in self._vars and keeps:
            return self._shared(name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer, is_value = self._get_default_initializer(name=name, shape=shape, dtype=dtype)
        with init_scope():
            value, value_type = (initializer, None) if is_value else _initial_value(name, initializer, shape, dtype, partition_info)
        if use_resource is None:
            use_resource = tf.resource_variables_enabled()
        variable = VariableV1(
            initial_value=value,
            name=name,
            trainable=trainable,
            collections=collections,
            caching_device=caching_device,
            dtype=value_type,
            validate_shape=validate_shape,
            constraint=constraint,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        if keeps:
            self._vars[name] = variable
        if in_eager_mode() and keeps:
            # Eager variables are in no collection, but those of a store are.
            add_to_collections(collections or [GraphKeys.GLOBAL_VARIABLES], variable)
            if trainable:
                add_to_collection(GraphKeys.TRAINABLE_VARIABLES, variable)
        if regularizer:
            with colocate_with(variable), name_scope(name + "/Regularizer/"), init_scope():
                loss = regularizer(variable)
            if loss is not None:
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable

    def _shared(self, name: str, shape: Any, dtype: Any, reuse: Any) -> Any:
        found = self._vars[name]
        if reuse is False:
            problem = f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            if isinstance(found, ResourceVariable):
                raise ValueError(problem)
            raise ValueError(f"{problem} Originally defined at:\n\n{''.join(traceback.format_list(_users_frames(found.op)))}")
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(f"Trying to share variable {name}, but specified shape {shape} and found shape {found.get_shape()}.")
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}.")
        return found

    def _get_default_initializer(self, name: str, shape: Any = None, dtype: dtypes.DTypeLike = dtypes.float32) -> tuple[Any, bool]:
        """What a variable starts with where nobody says it: (initializer, whether it is a value)."""
        dtype = dtypes.as_dtype(dtype)
        if dtype.is_floating:
            return api.find("glorot_uniform_initializer")(), False
        if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
            return api.find("zeros_initializer")(), False
        raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _initial_value(name: str, initializer: Any, shape: Any, dtype: Any, partition_info: Any) -> tuple[Callable[[], Any], Any]:
    """A function that makes the initial value, and the type to ask for."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        extra = {"partition_info": partition_info} if takes(initializer, "partition_info") else {}
        return functools.partial(initializer, shape.as_list(), dtype=dtype, **extra), dtype.base_dtype
    if not _needs_arguments(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
        "provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _users_frames(op: Any) -> list[Any]:
    """The innermost frames of a program's own code that led to an operation."""
    package = str(api.PACKAGE)
    return [frame for frame in reversed(op.traceback) if not frame[0].startswith(package)][:3]


@internal("ops.variable_scope._get_default_variable_store")
def default_variable_store() -> VariableStore:
    """The store of the default graph."""
    found = get_collection_ref(STORE_KEY)
    if not found:
        found.append(VariableStore())
    return found[0]
