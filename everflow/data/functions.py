"""The functions that users give to map and its kin, as functions of the graph's library."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.autograph.conversion_api import tf_convert
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetV2
from everflow.eager.context import executing_eagerly
from everflow.graph.conversion_status import control_status_ctx
from everflow.graph.defun import Defun
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import LIBRARY, LibraryFunction
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply

_uids = itertools.count(2)


def _function_name(func: Callable[..., Any]) -> str:
    func = inspect.unwrap(func)
    while hasattr(func, "func") and not inspect.isroutine(func):
        func = func.func
    if hasattr(func, "__name__"):
        return func.__name__
    return type(func).__name__


class _Body(FuncGraph):
    """The body of a dataset's function; it shares variables with the graph around it."""

    # Ops inside that would wait for ops outside simply don't: the function is called long after.
    captures_controls = True


@internal("data.ops.dataset_ops.StructuredFunctionWrapper")
class StructuredFunctionWrapper:
    """A user's function of structured elements as a library function of flat tensors.

    `output_structure` tells the types of what it returns; `function` has `name` and `captured_inputs`.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        transformation_name: str,
        dataset: Any = None,
        input_classes: Any = None,
        input_shapes: Any = None,
        input_types: Any = None,
        input_structure: Any = None,
        add_to_graph: bool = True,
        use_legacy_function: bool = False,
        defun_kwargs: Any = None,
    ) -> None:
        if input_structure is None and dataset is None:
            if input_classes is None or input_shapes is None or input_types is None:
                raise ValueError(
                    "Either `dataset`, `input_structure` or all of `input_classes`, `input_shapes`, and `input_types` must be specified."
                )
            input_structure = structure.convert_legacy_structure(input_types, input_shapes, input_classes)
        elif dataset is not None:
            if input_structure is not None or any(x is not None for x in (input_classes, input_shapes, input_types)):
                raise ValueError(
                    "Either `dataset`, `input_structure`, or all of `input_classes`, `input_shapes`, and `input_types` must be specified."
                )
            input_structure = dataset.element_spec
        self._input_structure = input_structure
        self._transformation_name = transformation_name
        self._output_structure: Any = None
        if not callable(func):
            raise ValueError("Argument must be callable")
        # What the program branches and loops on are tensors.
        self._func = tf_convert(func, control_status_ctx())
        name = f"{transformation_name.removesuffix('()')}_{_function_name(func)}".replace(".", "_").replace(":", "_")
        self._function = self._legacy(name, dict(defun_kwargs or {})) if use_legacy_function else self._traced(name)
        if add_to_graph:
            make_known(self._function)

    # -- how it was declared

    @property
    def output_structure(self) -> Any:
        """The structure of types of what the function returns."""
        return self._output_structure

    @property
    def output_classes(self) -> Any:
        """The Python types of what the function returns."""
        return structure.legacy_classes(self._output_structure)

    @property
    def output_shapes(self) -> Any:
        """The shapes of what the function returns."""
        return structure.legacy_shapes(self._output_structure)

    @property
    def output_types(self) -> Any:
        """The dtypes of what the function returns."""
        return structure.legacy_types(self._output_structure)

    @property
    def function(self) -> Any:
        """The library function."""
        return self._function

    # -- building it

    def _call(self, flat: list[Tensor]) -> list[Tensor]:
        """Gives the user's function its structured argument, and takes what it returns apart."""
        argument = structure.from_compatible_tensor_list(self._input_structure, flat)
        found = self._func(*argument) if type(argument) is tuple else self._func(argument)
        if isinstance(found, list):
            # Ops such as py_func return lists of tensors that need not stack: several components, as of a tuple.
            found = tuple(found)
        try:
            self._output_structure = structure.spec_of_element(_as_tensors(found))
        except (TypeError, ValueError) as error:
            raise TypeError(f"Unsupported return value from function passed to {self._transformation_name}: {found}.") from error
        return structure.to_tensor_list(self._output_structure, _as_tensors(found))

    def _traced(self, base: str) -> LibraryFunction:
        outer = get_default_graph()
        body = _Body(base, collections=outer._collections)
        body.seed = outer.seed
        body._container = outer._container
        with body.as_default(), _variables_outside(outer):
            specs = structure.get_flat_tensor_specs(self._input_structure)
            arguments = [body.add_input(spec.dtype, spec.shape.as_dims(), f"args_{i}") for i, spec in enumerate(specs)]
            outputs = self._call(arguments)
            _warn_of_resources(body, self._transformation_name)
            body.outputs = [apply("Identity", t) if t.dtype.name != "resource" else t for t in outputs]
        for t, given in zip(body.outputs, outputs):
            t.dims = given.dims
        if body._seed_used and body.seed is not None and body.seed == outer.seed:
            warnings.warn(
                f"Seed {outer.seed} from outer graph might be getting used by function {base}, if the random op has not been provided any "
                "seed. Explicitly set the seed in the function if this is not the intended behavior.",
                stacklevel=4,
            )
        entry = LibraryFunction(f"__inference_{base}_{next(_uids)}", graph=body)
        body.name = entry.name
        library = LIBRARY if executing_eagerly() else outer
        for function in body._functions.values():
            library._add_function(function)
        return entry

    def _legacy(self, base: str, kwargs: dict[str, Any]) -> Any:
        types = structure.get_flat_tensor_types(self._input_structure)
        shapes = structure.get_flat_tensor_shapes(self._input_structure)
        kwargs.setdefault("func_name", f"{base}_{next(_uids)}")

        def run(*arguments: Tensor) -> list[Tensor]:
            for t, shape in zip(arguments, shapes):
                t.set_shape(shape)
            outputs = self._call(list(arguments))
            _warn_of_resources(get_default_graph(), self._transformation_name)
            return outputs

        defined = Defun(*types, **kwargs)(run)
        # Building it now finds out what it returns.
        defined.name  # noqa: B018
        if not types:
            defined.declared_input_types  # noqa: B018
        return defined


def make_known(function: Any) -> None:
    """Puts a function where the ops that are made here find it."""
    library = LIBRARY if executing_eagerly() else get_default_graph()
    function.add_to_graph(library)


def _as_tensors(value: Any) -> Any:
    """The leaves of what a function returned, as tensors or composites."""

    def converted(leaf: Any) -> Any:
        if isinstance(leaf, DatasetV2):
            return leaf
        return structure._normalized(structure.stacked_datasets(leaf), 0)

    if value is None:
        raise TypeError("None")
    return nesting.pack_sequence_as(value, [converted(leaf) for leaf in nesting.flatten(value)])


def _variables_outside(outer: Any) -> Any:
    """Variables that a function makes with tf.get_variable belong to the graph around it."""

    def get(getter: Any, *args: Any, **kwargs: Any) -> Any:
        with outer.as_default(), outer.name_scope(None):
            return getter(*args, **kwargs)

    return tf.variable_scope(tf.get_variable_scope(), custom_getter=get, auxiliary_name_scope=False)


def _warn_of_resources(body: Any, transformation_name: str) -> None:
    """Initializers of tables made inside a function are not run by the initializers outside."""
    made = body._collections.get(tf.GraphKeys.TABLE_INITIALIZERS, ())
    if any(getattr(t, "graph", None) is body for t in made):
        warnings.warn(
            f"Creating resources inside a function passed to {transformation_name} is not supported. Create each resource outside the "
            "function, and capture it inside the function to use it.",
            stacklevel=5,
        )
