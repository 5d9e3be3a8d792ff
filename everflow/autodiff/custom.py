"""Gradients that a program defines: tf.custom_gradient, and what is built on it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.autodiff import tape as tapes
from everflow.autodiff.gradients import gradients
from everflow.autodiff.registry import RegisterGradient, get_gradient_function
from everflow.autodiff.surroundings import Surroundings
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables.handles import copy_handle_data
from everflow.platform.decorators import make_decorator

VARIABLES = ("VariableV2", "VarHandleOp")
_serial = itertools.count()


@public("custom_gradient", "contrib.eager.custom_gradient")
@internal("ops.custom_gradient.custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function its own gradient: it returns its result, and a function from the result's gradient to its arguments'.

        @tf.custom_gradient
        def log1pexp(x):
            e = tf.exp(x)
            return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    If it uses variables, the gradient function takes them as `variables` and returns a list of their gradients too.
    """

    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _at_once(f, args, kwargs) if in_eager_mode() else _in_graph(f, args, kwargs)

    return make_decorator(f, decorated)


def _at_once(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    inner = tapes.Tape()
    with tapes.stop_recording():
        tapes.push(inner)
        try:
            result, gradient = f(*args, **kwargs)
        finally:
            tapes.pop(inner)
    arguments = [convert_to_tensor(x) for x in args]
    given = {id(a.handle) for a in args if isinstance(getattr(a, "handle", None), Tensor)}
    variables = [v for v in inner.variables.values() if v.trainable and id(v.handle) not in given]
    _check_signature(gradient, variables)
    results = [tf.identity(r) for r in nest.flatten(result)]
    sources = [a.handle if isinstance(getattr(a, "handle", None), Tensor) else t for a, t in zip(args, arguments)]
    for v in variables:
        tapes.variable_accessed(v)

    def backward(*output_gradients: Any) -> list[Any]:
        if not variables:
            found = nest.flatten(gradient(*output_gradients))
        else:
            of_arguments, of_variables = gradient(*output_gradients, variables=variables)
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
            found = [*nest.flatten(of_arguments), *of_variables]
        if len(found) != len(sources) + len(variables):
            raise ValueError(
                f"custom_gradient function expected to return {len(sources) + len(variables)} gradients but returned {len(found)} instead."
            )
        return found

    tapes.record_custom(f.__name__, [*sources, *(v.handle for v in variables)], results, backward)
    return nest.pack_sequence_as(result, results)


def _in_graph(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if kwargs:
        raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled.")
    graph = get_default_graph()
    arguments = [convert_to_tensor(x) for x in args]
    before, known = len(graph._ops), set(_scope_variables())
    inner = tapes.Tape()
    tapes.push(inner)
    try:
        result, gradient = f(*arguments)
    finally:
        tapes.pop(inner)
    for v in _scope_variables():
        if v not in known and not isinstance(getattr(v, "handle", None), Tensor):
            raise TypeError(
                "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. Ensure that no "
                "`variable_scope` is created with `use_resource=False`."
            )
    variables = list(dict.fromkeys([*get_dependent_variables(arguments, result), *_read_since(graph, before), *inner.watched_variables()]))
    _check_signature(gradient, variables)
    results = nest.flatten(result)
    name = f"CustomGradient-{next(_serial)}"
    RegisterGradient(name)(_gradient_of_identities(gradient, len(results), variables))
    with graph.gradient_override_map({"IdentityN": name}):
        tensors = tf.identity_n([*results, *arguments, *variables])
    for source, t in zip([convert_to_tensor(x) for x in (*results, *arguments, *variables)], tensors):
        copy_handle_data(source, t)
    return nest.pack_sequence_as(result, tensors[: len(results)])


def _gradient_of_identities(gradient: Callable[..., Any], count: int, variables: list[Any]) -> Callable[..., Any]:
    """The gradient of a node that hands on results, arguments and variables: none for the results, which were computed."""

    def gradients_of_inputs(op: Operation, *output_gradients: Any) -> list[Any]:
        given = output_gradients[:count]
        if not variables:
            return [None] * count + nest.flatten(gradient(*given))
        of_arguments, of_variables = gradient(*given, variables=variables)
        if len(of_variables) != len(variables):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        return [None] * count + nest.flatten(of_arguments) + list(of_variables)

    return gradients_of_inputs


def _check_signature(gradient: Callable[..., Any], variables: list[Any]) -> None:
    spec = inspect.getfullargspec(gradient)
    takes_variables = "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None
    if variables and not takes_variables:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword argument 'variables'."
        )
    if takes_variables and not variables and not in_eager_mode():
        if not tf.get_variable_scope().use_resource:
            raise TypeError(
                "If using @custom_gradient with a function that uses variables, the enclosing variable scope must have use_resource=True."
            )
        tf.logging.warn("@custom_gradient grad_fn has 'variables' in signature, but no ResourceVariables were used on the forward pass.")


def _scope_variables() -> list[Any]:
    scope = tf.get_variable_scope()
    return scope.global_variables() + scope.local_variables()


def _read_since(graph: Graph, count: int) -> list[Any]:
    """The trainable resource variables that the ops after the first `count` read."""
    surroundings = Surroundings(graph, [])
    handles = {
        surroundings.source(t)
        for op in graph._ops[count:]
        if op.type in ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
        for t in op.inputs
        if t.dtype.base_dtype is dtypes.resource
    }
    return [v for v in _all_variables(graph) if getattr(v, "handle", None) in handles and v.trainable]


def _all_variables(graph: Graph) -> list[Any]:
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    return list(dict.fromkeys(v for key in keys for v in graph.get_collection(key)))


@internal("ops.custom_gradient.get_dependent_variables")
def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """The trainable variables that outputs depend on in a differentiable way, other than through the inputs."""
    # An output may be an input itself: what is in between begins at another tensor.
    outputs = [apply("Identity", t) for t in nest.flatten(output_ops)]
    names = _variables_between(nest.flatten(input_ops), outputs)
    found = [get_variable_by_name(name) for name in names]
    return [v for v in found if v is not None]


def _variables_between(inputs: list[Any], outputs: list[Tensor]) -> list[str]:
    stops = {t for t in inputs if isinstance(t, Tensor)}
    surroundings = Surroundings(get_default_graph(), list(stops))
    seen: set[Operation] = set()
    stack = [t.op for t in outputs]
    names = []
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type in VARIABLES:
            names.append(op.name)
        if _is_differentiable(op):
            stack.extend(t.op for t in surroundings.inputs(op) if t not in stops)
    return names


def _is_differentiable(op: Operation) -> bool:
    try:
        return get_gradient_function(op) is not None
    except LookupError:
        return False


@internal("ops.custom_gradient.get_variable_by_name")
def get_variable_by_name(var_name: str) -> Any:
    """The trainable variable of this name; None if there is one that is not trainable."""
    candidates = [v for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES) if v.op.name == var_name]
    if not candidates:
        raise ValueError(f"Unsuccessful at finding variable {var_name}.")
    candidates = [v for v in candidates if v.trainable]
    if len(candidates) > 1:
        raise ValueError(
            f"Unsuccessful at finding trainable variable {var_name}. Number of candidates: {len(candidates)}. Candidates: {candidates}"
        )
    return candidates[0] if candidates else None


@public("grad_pass_through")
@internal("ops.custom_gradient.grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with the identity's gradient: as if it returned its arguments."""

    @custom_gradient
    def passed_through(*args: Any, **kwargs: Any) -> Any:
        def gradient(*output_gradients: Any, **options: Any) -> Any:
            variables = options.get("variables")
            return output_gradients if variables is None else (output_gradients, [None] * len(variables))

        return f(*args, **kwargs), gradient

    return make_decorator(f, passed_through)


@public("recompute_grad")
@internal("ops.custom_gradient.recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, computed again for its gradient, so that what it computes in between need not be kept."""

    @custom_gradient
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)

        def gradient(*output_gradients: Any, variables: Any = None) -> Any:
            sources = [*args, *(variables or ())]
            if in_eager_mode():
                given = [a if hasattr(a, "handle") else convert_to_tensor(a) for a in args]
                sources[: len(args)] = given
                with tf.GradientTape() as tape:
                    tape.watch(sources)
                    again = f(*given, **kwargs)
                found = tape.gradient(again, sources, list(output_gradients))
            else:
                with control_dependencies(list(output_gradients)):
                    again = nest.flatten(f(*args, **kwargs))
                found = gradients(again, sources, list(output_gradients))
            return found[: len(args)], found[len(args) :]

        def gradient_of_arguments(*output_gradients: Any, **options: Any) -> Any:
            of_arguments, of_variables = gradient(*output_gradients, **options)
            return (of_arguments, of_variables) if options.get("variables") else of_arguments

        return result, gradient_of_arguments

    return recomputed
