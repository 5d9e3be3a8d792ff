"""tf.cond, tf.case, tf.switch_case: If and Case nodes over branch bodies."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import errors, nest
from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.attrs import FunctionName
from everflow.graph.constants import computing, known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import add_body
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow import bodies
from everflow.ops.control_flow.toggles import enabled_in
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

# -- nodes


def branch_names(node: Node | Operation) -> list[str]:
    """The names of the functions that a node chooses from, in the order of the index that chooses."""
    if node.type == "Case":
        return [f.name for f in node.attr("branches")]
    return [node.attr("else_branch").name, node.attr("then_branch").name]


def _choosing_kernel(node: Node) -> Callable[..., Any]:
    names = branch_names(node)
    index = _case_index(len(names)) if node.type == "Case" else bodies.truth
    used = node.attrs.get("_used")
    if used is not None:
        return _some_results(node, [node.context.library(name).graph for name in names], index, used)
    calls = [node.context.function(name) for name in names]
    if len(node.outputs) == 1:
        return lambda chosen, *inputs: calls[index(chosen)](*inputs)[0]
    return lambda chosen, *inputs: calls[index(chosen)](*inputs)


def _some_results(node: Node, branches: list[FuncGraph], index: Callable[[Any], int], used: tuple[int, ...]) -> Callable[..., Any]:
    """A choice of which only some results are used: what only the others need is not computed."""
    calls = [node.context.compile(b.variant([b.outputs[i] for i in used])) for b in branches]
    count = len(node.outputs)

    def run(chosen: Any, *inputs: Any) -> Any:
        found: list[Any] = [None] * count
        for i, value in zip(used, calls[index(chosen)](*inputs)):
            found[i] = value
        return found[0] if count == 1 else found

    return run


def _chosen(node: Node, index: Any) -> str:
    names = branch_names(node)
    return names[_case_index(len(names))(index) if node.type == "Case" else bool(index)]


def _case_index(count: int) -> Callable[[Any], int]:
    def index(value: Any) -> int:
        found = int(value)
        return found if 0 <= found < count else count - 1

    return index


def _choosing_shapes(operation: Operation) -> list[Any]:
    found = [operation.graph._get_function(name) for name in branch_names(operation)]
    if any(f is None for f in found):
        given = operation.attrs.get("output_shapes") or []
        return given if len(given) == len(operation.outputs) else [None] * len(operation.outputs)
    for i, t in enumerate(operation.outputs):
        data = [f.graph.outputs[i].handle_data for f in found]
        t.handle_data = data[0] if all(d == data[0] for d in data) else None
    return [bodies.merged_dims([f.graph.outputs[i].dims for f in found]) for i in range(len(operation.outputs))]


for _name in ("If", "StatelessIf", "_If", "Case"):
    op(
        _name,
        kernel=_choosing_kernel,
        shape=_choosing_shapes,
        view=True,
        writes=True,
        bodies=True,
        first_argument=1,
        sizes=(0,),
        chosen=_chosen,
    )


def _fake_param(node: Node) -> Callable[..., Any]:
    value = bodies.placeholder_value(node.attr("dtype"))
    return lambda: value


op("FakeParam", kernel=_fake_param, shape=lambda o: o.attr("shape"))


def add_choice(chosen: Tensor, branches: list[FuncGraph], op_type: str, name: str | None) -> list[Tensor]:
    """Adds an If (branches: false, true) or Case node over finished bodies; returns its outputs."""
    graph = get_default_graph()
    captured = bodies.share_captures(branches)
    functions = [add_body(graph, b, b.name) for b in branches]
    names = [FunctionName(f.name) for f in functions]
    attrs: dict[str, Any] = {
        "Tout": [t.dtype for t in branches[0].outputs],
        "output_shapes": [bodies.merged_dims([b.outputs[i].dims for b in branches]) for i in range(len(branches[0].outputs))],
    }
    with graph.control_dependencies(bodies.control_captures(branches)):
        if op_type == "Case":
            outputs = apply("Case", chosen, captured, branches=names, name=name, **attrs)
        else:
            kind = "If" if bodies.is_stateful(branches) else "StatelessIf"
            outputs = apply(kind, chosen, captured, else_branch=names[0], then_branch=names[1], name=name, **attrs)
    if isinstance(outputs, Operation):
        # A node without outputs.
        operation, outputs = outputs, []
    else:
        operation = outputs[0].op if outputs else graph._ops[-1]
    # Readers that know only Switch and Merge lower the node to these.
    operation.attrs["_lower_using_switch_merge"] = True
    return outputs


# -- tf.cond


def _branch(function: Callable[[], Any], name: str, label: str, strict: bool, uncertain: bool = False) -> tuple[FuncGraph, Any]:
    """Builds a branch; returns it with what the function returned."""
    body = FuncGraph.body_of(get_default_graph(), name)
    body.is_uncertain = uncertain
    body.branch = (name.rpartition("/")[0], label)
    with body.as_default():
        found = bodies.and_its_summaries(function)
    if found is None:
        raise ValueError(f"{label} must have a return value.")
    if not strict and isinstance(found, (list, tuple)) and len(found) == 1:
        found = found[0]
    return body, found


def _return(body: FuncGraph, found: Any, value: bool) -> None:
    """Makes what a branch's function returned the branch's outputs."""
    with body.as_default():
        body.outputs = [bodies.as_output(v, lambda o: _after(o, value)) for v in bodies.flatten(found)]
    outer = get_default_graph()
    bodies.finish([body], outer, keeps_effects=outer.orders_effects)


def _after(operation: Operation, value: bool) -> Tensor:
    """Which branch it is, known once the operation ran: what a branch returns in the place of an operation."""
    with get_default_graph().control_dependencies([operation]):
        found = apply("Identity", convert_to_tensor(value))
    found.dims = None
    return found


@public("cond")
@internal("ops.control_flow_ops.cond")
def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False, name: str | None = None, fn1: Any = None, fn2: Any = None
) -> Any:
    """The result of `true_fn()` where `pred` is true when the graph runs, of `false_fn()` otherwise."""
    true_fn = _renamed(true_fn, fn1, "true_fn", "fn1")
    false_fn = _renamed(false_fn, fn2, "false_fn", "fn2")
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    if in_eager_mode():
        with name_scope(name, "cond", [pred]):
            found = true_fn() if pred else false_fn()
        return found if strict else _unpacked_if_single(found)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    if enabled_in(get_default_graph()):
        from everflow.ops.control_flow.version2 import cond_v2

        return cond_v2(pred, true_fn, false_fn, name or "cond")
    with name_scope(name, "cond", [pred]) as scope:
        pred = _predicate(pred, scope)
        # TensorFlow's branches begin with a Switch and three Identities: of its two outputs, and of the predicate.
        graph = get_default_graph()
        graph._uncounted += 4
        chosen = computing(known, pred)
        true_body, true_found = _branch(true_fn, scope + "true", "true_fn", strict, uncertain=chosen is None or not chosen)
        graph._op_count = true_body._op_count + _handed_through(true_body, true_found)
        false_body, false_found = _branch(false_fn, scope + "false", "false_fn", strict, uncertain=chosen is None or bool(chosen))
        made = false_body._op_count + _handed_through(false_body, false_found)
        true_found, false_found = with_same_indices([true_body, false_body], [true_found, false_found])
        nest.assert_same_structure(true_found, false_found, expand_composites=True)
        _return(true_body, true_found, True)
        _return(false_body, false_found, False)
        for x, y in zip(true_body.outputs, false_body.outputs):
            if x.dtype.base_dtype is not y.dtype.base_dtype:
                raise ValueError(
                    f"Outputs of true_fn and false_fn must have the same type: {x.dtype.base_dtype.name}, {y.dtype.base_dtype.name}"
                )
        outputs = add_choice(pred, [false_body, true_body], "If", "If")
        merged = [_handed_on(t, "Merge") for t in outputs]
        graph._op_count = made + len(merged)
        return bodies.packed(true_found, merged)


def _handed_through(body: FuncGraph, found: Any) -> int:
    """How many tensors from outside a branch only returns: TensorFlow makes a Switch for each."""
    given = {t for t in bodies.flatten(found) if isinstance(t, Tensor) and t.graph is not body}
    return sum(1 for t in given if t not in body._captures and t not in body._copies)


def _handed_on(t: Tensor, name: str) -> Tensor:
    found = apply("Identity", t, name=name)
    found.handle_data = t.handle_data
    return found


def _renamed(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    if old is not None:
        if new is not None:
            raise TypeError(f"cond(): {new_name} and {old_name} may not be set simultaneously.")
        return old
    if new is None:
        raise TypeError(f"cond(): {new_name} argument required")
    return new


def _predicate(pred: Any, scope: str) -> Tensor:
    pred = convert_to_tensor(pred, name="pred")
    if pred.dtype.base_dtype is not dtypes.bool:
        raise TypeError(f"Input 'pred' of 'Switch' Op has type {pred.dtype.base_dtype.name} that does not match expected type of bool.")
    if pred.dims is not None and pred.dims != ():
        shown = shapes.describe(pred.dims)
        raise ValueError(
            f"Shape must be rank 0 but is rank {len(pred.dims)} for '{scope}Switch' (op: 'Switch') with input shapes: {shown}, {shown}."
        )
    return pred


def with_same_indices(branches: list[FuncGraph], found: list[Any]) -> list[Any]:
    """Where one branch returns slices with 32-bit indices and the other with 64-bit ones, both get 64."""
    leaves = [nest.flatten(f) for f in found]
    if len(leaves[0]) != len(leaves[1]):
        return found
    for i, slices in enumerate(zip(*leaves)):
        if all(isinstance(s, IndexedSlices) for s in slices) and slices[0].indices.dtype is not slices[1].indices.dtype:
            for body, flat, s in zip(branches, leaves, slices):
                with body.as_default():
                    flat[i] = IndexedSlices(s.values, apply("Cast", s.indices, DstT=dtypes.int64), s.dense_shape)
    return [nest.pack_sequence_as(f, flat) for f, flat in zip(found, leaves)]


# -- tf.case


def _checked_pairs(pred_fn_pairs: Any, allow_python_preds: bool = False) -> list[tuple[Any, Any]]:
    if isinstance(pred_fn_pairs, dict):
        pairs = [(getattr(k, "deref", lambda k=k: k)(), v) for k, v in pred_fn_pairs.items()]
    elif isinstance(pred_fn_pairs, (list, tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError("fns must be a list, tuple, or dict")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        shown = _shown(pred)
        if isinstance(pred, Tensor):
            if pred.dtype is not dtypes.bool:
                raise TypeError(f"pred must be of type bool: {shown}")
        elif not allow_python_preds:
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        elif not isinstance(pred, bool):
            raise TypeError(f"pred must be a Tensor or a Python bool, got: {pred}")
        if not callable(function):
            raise TypeError(f"fn for pred {shown} must be callable.")
    return pairs


@public("case")
def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case") -> Any:
    """The result of the function of the first predicate that is true, or of `default()`."""
    pairs = _checked_pairs(pred_fn_pairs)
    if in_eager_mode():
        return _case_at_once(pairs, default, exclusive, strict)
    return case_by(cond, pairs, default, exclusive, name, strict=strict)


@internal("ops.control_flow_ops._case_helper")
def case_by(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Any,
    exclusive: bool,
    name: str | None,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """`tf.case` of conditionals that `cond_fn` builds."""
    pairs = _checked_pairs(pred_fn_pairs, allow_python_preds)
    with name_scope(name, "case", [pred for pred, _ in pairs]):
        predicates, functions = zip(*pairs)
        if default is None:
            default = _last_or_fail(predicates, functions[-1])
            predicates, functions = predicates[:-1], functions[:-1]
        checks = [_at_most_one(predicates)] if exclusive and predicates else []
        with control_dependencies(checks):
            result = default
            for pred, function in zip(reversed(predicates), reversed(functions)):
                result = functools.partial(cond_fn, pred, true_fn=function, false_fn=result, **cond_kwargs)
            if not callable(result):
                raise TypeError("default must be callable.")
            return result()


def _unpacked_if_single(result: Any) -> Any:
    """The only element of a list, and of no other structure."""
    is_list = isinstance(result, (list, tuple)) and not hasattr(result, "_fields")
    return result[0] if is_list and len(result) == 1 else result


def _case_at_once(pairs: Any, default: Any, exclusive: bool, strict: bool) -> Any:
    true = [f for pred, f in pairs if bool(pred)]
    if exclusive and len(true) > 1:
        raise errors.InvalidArgumentError(None, None, "Input error: exclusive=True: more than 1 conditions evaluated as True.")
    if not true and default is None:
        raise errors.InvalidArgumentError(None, None, "None of the conditions evaluated as True and no default was given.")
    found = (true[0] if true else default)()
    return found if strict else _unpacked_if_single(found)


def _shown(pred: Any) -> str:
    return str(getattr(pred, "name", pred))


def _at_most_one(predicates: Any) -> Operation:
    """Fails where more than one predicate is true."""
    stacked = apply("Pack", list(predicates), name="preds_c")
    count = apply("Sum", apply("Cast", stacked, DstT=dtypes.int32), [0], name="num_true_conds")
    shown = ", ".join(map(_shown, predicates))
    return tf.Assert(
        apply("LessEqual", count, convert_to_tensor(1, name="n_true_conds")),
        data=[f"Input error: exclusive=True: more than 1 conditions ({shown}) evaluated as True:", stacked],
        summarize=len(predicates),
    )


def _last_or_fail(predicates: Any, function: Callable[[], Any]) -> Callable[[], Any]:
    """Without a default one predicate must be true: the last function fails where its own is not."""

    def run() -> Any:
        stacked = apply("Pack", list(predicates), name="preds_c")
        check = tf.Assert(
            predicates[-1], data=["Input error: None of conditions evaluated as True:", stacked], summarize=len(predicates) + 1
        )
        with control_dependencies([check]):
            return function()

    return run


# -- tf.switch_case


def _numbered(branch_fns: Any) -> list[Any]:
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    if not isinstance(branch_fns, (list, tuple)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    if all(callable(f) for f in branch_fns):
        branch_fns = list(enumerate(branch_fns))
    for pair in branch_fns:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, function = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(function):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in branch_fns)
    if keys != list(range(len(keys))):
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found {{{','.join(map(str, keys))}}}")
    return [function for _, function in sorted(branch_fns, key=lambda pair: pair[0])]


@public("switch_case")
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """The result of the function with this number; of `default`, or the last one, where the number is out of range."""
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    functions = _numbered(branch_fns)
    if default is not None:
        if not callable(default):
            raise TypeError("default must be callable.")
        functions.append(default)
    if in_eager_mode():
        i = int(branch_index)  # type: ignore[call-overload]
        return functions[i if 0 <= i < len(functions) else -1]()
    with name_scope(name, "switch_case", [branch_index]):
        return indexed_case(branch_index, functions)


def indexed_case(branch_index: Tensor, functions: list[Any], name: str = "indexed_case") -> Any:
    """A Case node over the branches that the functions build."""
    with name_scope(name, "indexed_case", [branch_index]) as scope:
        built = [_branch(f, f"{scope}branch{i}", f"branch {i}", strict=True) for i, f in enumerate(functions)]
        first = built[0][1]
        for i, (body, found) in enumerate(built):
            nest.assert_same_structure(first, found, expand_composites=True)
            _return(body, found, bool(i))
            for x, y in zip(built[0][0].outputs, body.outputs):
                if x.dtype.base_dtype is not y.dtype.base_dtype:
                    raise TypeError(
                        f"branch {i} and branch 0 arguments to tf.switch_case must have the same number, type, and "
                        "overall structure of "
                        f"return values: {y.dtype.base_dtype.name} and {x.dtype.base_dtype.name}"
                    )
        index = branch_index
        if index.dtype.base_dtype is not dtypes.int32:
            index = apply("Cast", index, DstT=dtypes.int32)
        outputs = add_choice(index, [body for body, _ in built], "Case", None)
        return bodies.packed(first, [apply("Identity", t, name="Identity") for t in outputs])
