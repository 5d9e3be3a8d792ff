"""Optimizer steps: ops that change a variable and its slots in place, given a gradient.

Each family of ops (ApplyAdam, ResourceApplyAdam, SparseApply..., ResourceSparseApply...) has one formula. A formula
takes lists, so that a step over many variables can be one call: `formula(variables, *slots, gradients, *numbers)`.
Slots are lists too, and numbers (learning rate, decays) are plain Python numbers in the order of the op's inputs.

A gradient may be the variable itself, read without a copy: a formula never uses it after it wrote the variable.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from everflow import _native
from everflow.errors import invalid_argument
from everflow.graph import opdefs, shapes
from everflow.graph.dtypes import DTypeLike
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op, op
from everflow.values.resources import Storage
from everflow.values.sizes import Number

Formula = Callable[..., None]


class Family(NamedTuple):
    """How many slots the ops of a family have beside the variable, and their formula: a function of the node. `signed`: numbers of the
    wrong sign are refused."""

    slots: int
    formula: Callable[[Any], Formula]
    signed: bool = False


FAMILIES: dict[str, Family] = {}


def family(name: str, slots: int, formula: Callable[[Any], Formula], together: bool = False, signed: bool = False) -> None:
    """Defines the ops of a family: for references and resources, for dense gradients and for some rows. `together`: the formula does as
    well with lists of many variables as with one."""
    FAMILIES[name] = Family(slots, formula, signed)
    for kind in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
        if opdefs.find(kind + name) is not None:
            op(kind + name, kernel=functools.partial(_kernel, FAMILIES[name]), shape=functools.partial(_shape, slots), writes=True)
    if together:
        for kind in ("Apply", "ResourceApply"):
            op(kind + name, together=f"_{kind}{name}Together", batch=functools.partial(_batch, slots))
            fused_op(f"_{kind}{name}Together", kernel=functools.partial(_together, FAMILIES[name]), writes=True)


def _batch(slots: int, node: Node) -> Any:
    """What steps must share to be taken together: their numbers, and all but the variables and the gradients."""
    where = Arguments(node.type, slots)
    numbers = tuple(node.inputs[i] for i in where.numbers)
    return node.type, numbers, node.inputs[where.gradient].dtype, tuple(sorted((k, str(v)) for k, v in node.attrs.items() if k[0] != "_"))


def _together(family: Family, node: Node) -> Callable[..., Any]:
    """One kernel for several dense steps of a family with the same numbers: takes the inputs of all steps, one after the other."""
    first = node.attr("steps")[0]
    slots, formula, _ = family
    where = Arguments(first.type, slots)
    update, width, count, at = formula(first), len(where.names), slots + 1, where.gradient
    numbers = _numbers(first, where)
    starts = range(0, width * len(node.attr("steps")), width)
    places = [start + i for i in range(count) for start in starts]
    # Values of variables and slots that were found to be alike, their lists, and their shapes: they mostly stay the same tensors.
    known: tuple[list[Any], list[list[Any]], list[Any]] = ([], [], [])

    def run(*inputs: Any) -> None:
        nonlocal known
        before, lists, shapes = known
        values = [inputs[i].read() for i in places]
        gradients: list[Any] = list(inputs[at::width])
        if not (before and all(map(operator.is_, values, before)) and all(map(_is_plain, gradients, shapes))):
            known, gradients = _all_aligned(inputs)
            lists = known[1]
        update(*lists, gradients, *numbers(inputs))

    def _all_aligned(inputs: Any) -> Any:
        rows = [_aligned(inputs[start : start + count], inputs[start + at], where) for start in starts]
        *lists, gradients = map(list, zip(*rows))
        values = [value for listed in lists for value in listed]
        is_known = all(value.is_contiguous() for value in values)
        return (values if is_known else [], lists, [value.shape for value in lists[0]]), gradients

    if not first.attr("use_locking"):
        return run

    def run_alone(*inputs: Any) -> None:
        # One order of locks for all steps: none waits for a lock that another holds while it waits.
        locks = sorted({slot.lock for slot in inputs[::width]}, key=id)
        held = 0
        try:
            for lock in locks:
                lock.acquire()
                held += 1
            run(*inputs)
        finally:
            for lock in locks[:held]:
                lock.release()

    return run_alone


class Arguments:
    """Where an op has its gradient, indices and numbers; its variable and slots come first."""

    def __init__(self, op_type: str, slots: int) -> None:
        names = [arg.name for arg in opdefs.find(op_type).inputs]  # type: ignore[union-attr]
        self.names = names
        self.variables = slots + 1
        self.gradient = names.index("delta" if "delta" in names else "grad")
        self.indices = names.index("indices") if "indices" in names else None
        used = {self.gradient, self.indices, *range(self.variables)}
        self.numbers = [i for i in range(len(names)) if i not in used]


def _shape(slots: int, o: Operation) -> Any:
    where = Arguments(o.type, slots)
    dims = None
    for value in o.inputs[: where.variables]:
        of_variable = value.dims if value.dtype._is_ref_dtype else value.handle_data and value.handle_data[0]
        dims = shapes.merge(dims, of_variable)
    for i in where.numbers:
        shapes.with_rank(o.inputs[i].dims, 0)
    gradient = o.inputs[where.gradient].dims
    if where.indices is None:
        dims = shapes.merge(dims, gradient)
    else:
        (count,) = shapes.with_rank(o.inputs[where.indices].dims, 1)
        if dims is not None:
            shapes.merge((count, *dims[1:]), gradient)
    return [] if o.type.startswith("Resource") else dims


def _kernel(family: Family, node: Node) -> Callable[..., Any]:
    where = Arguments(node.type, family.slots)
    update = family.formula(node)
    change = _rows_changed(update, node, where, where.indices) if where.indices is not None else _all_changed(update, where)
    numbers_of = _numbers(node, where, family.signed)
    n = where.variables
    is_ref = not node.type.startswith("Resource")

    def run(*inputs: Any) -> Storage | None:
        change(inputs[:n], inputs, numbers_of(inputs))
        return inputs[0] if is_ref else None

    if not node.attr("use_locking"):
        return run

    def run_alone(*inputs: Any) -> Storage | None:
        with inputs[0].lock:
            return run(*inputs)

    return run_alone


def _numbers(node: Node, where: Arguments, signed: bool = False) -> Callable[[Any], list[Any]]:
    """Where the op's numbers are found at run time: those that are constants are known already."""
    constants = [(i, node.constant(i)) for i in where.numbers]
    sources = [(i, None if value is None or value.ndim else value.item()) for i, value in constants]
    of_any_rank = [i for i, known in sources if known is None and node.inputs[i].dims != ()]
    signs = {i: SIGNS[where.names[i]] for i in where.numbers} if signed else {}

    def numbers(inputs: Any) -> list[Any]:
        for i in of_any_rank:
            if inputs[i].ndim:
                raise _no_such_number(where.names[i], inputs[i], *signs.get(i, ()))
        found = [inputs[i].item() if known is None else known for i, known in sources]
        for value, (i, (sign, is_right)) in zip(found, signs.items()):
            if not is_right(value):
                raise _no_such_number(where.names[i], inputs[i], sign)
        return found

    return numbers


# What numbers may be where that is looked at.
SIGNS: dict[str, tuple[str, Callable[[float], bool]]] = {
    "lr": ("positive ", lambda x: x > 0),
    **dict.fromkeys(("l1", "l2", "l2_shrinkage"), ("non-negative ", lambda x: x >= 0)),
    "lr_power": ("non-positive ", lambda x: x <= 0),
}


def _no_such_number(name: str, value: Any, sign: str = "", *_: Any) -> Exception:
    strengths = {k: f"{k.replace('_', ' ')} regularization strength" for k in ("l1", "l2", "l2_shrinkage")}
    return invalid_argument(f"{strengths.get(name, name)} is not a {sign}scalar: {shapes.describe(tuple(value.shape))}")


def _aligned(variables: tuple[Storage, ...], gradient: Any, where: Arguments) -> list[Any]:
    """The values of a variable and its slots, and the gradient: all of one shape and laid out alike in memory."""
    values = [slot.read() for slot in variables]
    values.append(gradient)
    shape = gradient.shape
    for value in values:
        if value.shape != shape or not value.is_contiguous():
            break
    else:
        return values
    for i, value in enumerate(values):
        if value.shape != values[0].shape:
            raise _different_shapes(values[0], value, where.names[i if i < where.variables else where.gradient])
    return [*_laid_out(variables, values), _laid_out_like(gradient, values[0])]


def _is_plain(value: Any, shape: Any) -> bool:
    return value.shape == shape and value.is_contiguous()


def _laid_out(variables: tuple[Storage, ...], values: list[Any]) -> list[Any]:
    found = []
    for slot, value in zip(variables, values):
        slot.value = _laid_out_like(value, values[0])
        found.append(slot.value)
    return found


def _laid_out_like(value: Any, variable: Any) -> Any:
    """The value with the strides of the variable."""
    strides = variable.stride()
    if value.stride() == strides:
        return value
    return torch.empty_strided(value.shape, strides, dtype=value.dtype, device=value.device).copy_(value)


def _different_shapes(variable: Any, value: Any, name: str) -> Exception:
    found, other = shapes.describe(tuple(variable.shape)), shapes.describe(tuple(value.shape))
    return invalid_argument(f"var and {name} do not have the same shape{found} {other}")


def _all_changed(update: Formula, where: Arguments) -> Callable[..., None]:
    at = where.gradient
    single = getattr(update, "single", None)

    def change(variables: tuple[Storage, ...], inputs: Any, numbers: list[Any]) -> None:
        values = _aligned(variables, inputs[at], where)
        if single is not None:
            single(*values, *numbers)
        else:
            update(*[[v] for v in values], *numbers)

    return change


def _rows_changed(update: Formula, node: Node, where: Arguments, at_indices: int) -> Callable[..., None]:
    """Changes the rows that are named by indices; a row that is named twice is changed twice, in turn."""
    at = where.gradient
    source = node.inputs[at_indices]
    distinct = source.node.type in ("Unique", "UniqueV2") and source.index == 0

    def change_once(values: list[Any], rows: Any, gradient: Any, numbers: list[Any]) -> None:
        parts = [v.index_select(0, rows) for v in values]
        update(*[[p] for p in parts], [gradient], *numbers)
        for value, part in zip(values, parts):
            _put(part, rows, value)

    def change(variables: tuple[Storage, ...], inputs: Any, numbers: list[Any]) -> None:
        values = [slot.read() for slot in variables]
        for i, value in enumerate(values):
            if value.shape != values[0].shape:
                raise _different_shapes(values[0], value, where.names[i])
        gradient = inputs[at].contiguous()
        rows = _checked_rows(values[0], gradient, inputs[at_indices])
        if not rows.numel():
            return
        turns = None if distinct else _turns(rows)
        if turns is None:
            change_once(values, rows, gradient, numbers)
            return
        for turn in turns:
            change_once(values, rows[turn], gradient[turn], numbers)

    return change


def _put(part: Any, rows: Any, value: Any) -> None:
    """Puts rows, each of which is named once, where they belong: torch's own index_copy_ takes two to three times as long."""
    if value.is_cpu and value.is_contiguous() and part.is_contiguous() and rows.is_contiguous():
        at, threads = value.data_ptr(), torch.get_num_threads()
        _native.put_rows(part.data_ptr(), rows.data_ptr(), True, len(rows), part.nbytes // len(rows), at, threads)
    else:
        value.index_copy_(0, rows, part)


def _checked_rows(variable: Any, gradient: Any, indices: Any) -> Any:
    if not variable.ndim:
        raise invalid_argument("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise invalid_argument("indices must be one-dimensional")
    for axis in range(1, variable.ndim):
        if gradient.ndim <= axis or variable.shape[axis] != gradient.shape[axis]:
            raise invalid_argument(f"var and grad must match in dimension {axis}")
    if gradient.ndim != variable.ndim or gradient.shape[0] != indices.shape[0]:
        raise invalid_argument("grad must be the same size as indices in the first dimension.")
    rows = indices.long()
    if rows.numel():
        low, high = torch.aminmax(rows)
        if low < 0 or high >= variable.shape[0]:
            bad = int(torch.nonzero((rows < 0) | (rows >= variable.shape[0]))[0])
            raise invalid_argument(f"Index {int(rows[bad])} at offset {bad} in indices is out of range")
    return rows


def _turns(rows: Any) -> list[Any] | None:
    """Positions in `rows`, in groups that name a row at most once and keep the order; None for a single group."""
    ordered, positions = torch.sort(rows, stable=True)
    if not bool((ordered[1:] == ordered[:-1]).any()):
        return None
    turn = torch.arange(rows.numel(), device=rows.device) - torch.searchsorted(ordered, ordered)
    return [positions[turn == i] for i in range(int(turn.max()) + 1)]


def each(slots: int, change: Callable[..., Any]) -> Formula:
    """A formula from one for a single variable, which is kept as its `single`."""

    def formula(*arguments: Any) -> None:
        numbers = arguments[slots + 2 :]
        for tensors in zip(*arguments[: slots + 2]):
            change(*tensors, *numbers)

    formula.single = change  # type: ignore[attr-defined]
    return formula


@functools.lru_cache(maxsize=1024)
def _zero_dim(value: float, dtype: DTypeLike) -> Any:
    return torch.tensor(value, dtype=dtype)


def number(value: float, like: Any) -> Any:
    """A number as a tensor: torch spends more on wrapping a Python number than on arithmetic with a small tensor."""
    return _zero_dim(value, like.dtype)


def soft(x: Any, threshold: Any) -> Any:
    """Each element moved towards zero by the threshold, and not beyond."""
    return x - torch.clamp(x, -threshold, threshold)


family("GradientDescent", 0, lambda n: each(0, lambda var, grad, lr: var.sub_(grad, alpha=lr)))


def momentum(nesterov: bool) -> Formula:
    def formula(variables: Any, accumulators: Any, gradients: Any, lr: float, momentum: float) -> None:
        if momentum == 0:
            # Torch keeps no buffers then; TensorFlow's accumulators hold the last gradient.
            torch._foreach_copy_(accumulators, gradients)
            torch._foreach_sub_(variables, accumulators, alpha=lr)
            return
        if variables[0].dtype.itemsize == 2:
            # Torch 2.13's fused step over 16-bit floats loses all but the last few elements.
            torch._foreach_mul_(accumulators, momentum)
            torch._foreach_add_(accumulators, gradients)
            if nesterov:
                torch._foreach_sub_(variables, gradients, alpha=lr)
            torch._foreach_sub_(variables, accumulators, alpha=lr * momentum if nesterov else lr)
            return
        torch._fused_sgd_(
            variables,
            gradients,
            accumulators,
            weight_decay=0.0,
            momentum=momentum,
            lr=lr,
            dampening=0.0,
            nesterov=nesterov,
            maximize=False,
            is_first_step=False,
        )

    return formula


def keras_momentum(nesterov: bool) -> Formula:
    """The accumulator holds the last step itself, learning rate included."""

    def change(var: Any, accum: Any, grad: Any, lr: float, momentum: float) -> None:
        decay = number(momentum, accum)
        accum.mul_(decay).sub_(grad, alpha=lr)
        var.add_(torch.mul(accum, decay).sub_(grad, alpha=lr) if nesterov else accum)

    return each(1, change)


family("Momentum", 1, lambda n: momentum(n.attr("use_nesterov")), together=True)
family("KerasMomentum", 1, lambda n: keras_momentum(n.attr("use_nesterov")))


# What rounds a number to float32, sooner than numpy does.
FLOAT = struct.Struct("f")


def _counted_power(node: Node) -> Callable[..., Any]:
    """A number to the power of a count, as float32: for steps, which take numbers from tensors anyway."""
    more = node.attr("more")

    def run(base: Any, count: Any) -> Number:
        try:
            return Number(*FLOAT.unpack(FLOAT.pack(base.item() ** (count.item() + more))))
        except (OverflowError, ZeroDivisionError):
            return Number(torch.pow(base, count + more).item())

    return run


fused_op("_CountedPower", kernel=_counted_power)


def adam_rate(lr: float, beta1_power: float, beta2_power: float) -> float:
    """The learning rate with both corrections for starting at zero."""
    if beta1_power == 1 or beta2_power > 1:
        return math.nan
    return lr * math.sqrt(1 - beta2_power) / (1 - beta1_power)


@functools.cache
def _late(device: Any) -> Any:
    """A step count so high that torch's own correction for starting at zero is none."""
    return torch.tensor(1e18, dtype=torch.float64 if device.type == "cpu" else torch.float32, device=device)


def adam(
    variables: Any,
    ms: Any,
    vs: Any,
    gradients: Any,
    beta1_power: float,
    beta2_power: float,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    largest: Any = (),
) -> None:
    """Adam; with `largest`, which holds the largest v so far of each variable, AMSGrad."""
    if beta1 >= 1 or beta2 >= 1:
        # A decay of 0.999 is one in bfloat16; torch's correction is a division by zero then.
        numbers = (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
        for tensors in itertools.zip_longest(variables, ms, vs, gradients, largest):
            _plain_adam(*tensors, *numbers)
        return
    steps = [_late(variables[0].device)] * len(variables)
    torch._fused_adam_(
        variables,
        gradients,
        ms,
        vs,
        largest,
        steps,
        lr=adam_rate(lr, beta1_power, beta2_power),
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=epsilon,
        amsgrad=bool(largest),
        maximize=False,
    )


def amsgrad(variables: Any, ms: Any, vs: Any, largest: Any, gradients: Any, *numbers: Any) -> None:
    adam(variables, ms, vs, gradients, *numbers, largest)  # type: ignore[call-arg]


def _plain_adam(
    var: Any,
    m: Any,
    v: Any,
    grad: Any,
    largest: Any,
    beta1_power: float,
    beta2_power: float,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    m.lerp_(grad, 1 - beta1)
    v.lerp_(grad.square(), 1 - beta2)
    mean = v if largest is None else torch.maximum(largest, v, out=largest)
    var.addcdiv_(m, mean.sqrt().add_(number(epsilon, v)), value=-adam_rate(lr, beta1_power, beta2_power))


def _nesterov_adam(
    var: Any, m: Any, v: Any, grad: Any, beta1_power: float, beta2_power: float, lr: float, beta1: float, beta2: float, epsilon: float
) -> None:
    m.lerp_(grad, 1 - beta1)
    v.lerp_(grad.square(), 1 - beta2)
    ahead = torch.lerp(m, grad, 1 - beta1)
    var.addcdiv_(ahead, v.sqrt().add_(number(epsilon, v)), value=-adam_rate(lr, beta1_power, beta2_power))


def _ada_max(var: Any, m: Any, v: Any, grad: Any, beta1_power: float, lr: float, beta1: float, beta2: float, epsilon: float) -> None:
    m.lerp_(grad, 1 - beta1)
    torch.maximum(v.mul_(number(beta2, v)), grad.abs(), out=v)
    var.addcdiv_(m, v + number(epsilon, v), value=-lr / (1 - beta1_power) if beta1_power != 1 else math.nan)


family("Adam", 2, lambda n: each(2, _nesterov_adam) if n.attr("use_nesterov") else adam, together=True)
family("AdamWithAmsgrad", 3, lambda n: amsgrad)
family("AdaMax", 2, lambda n: each(2, _ada_max))


def adagrad(variables: Any, accumulators: Any, gradients: Any, lr: float, epsilon: float = 0.0) -> None:
    steps = [_late(variables[0].device)] * len(variables)
    torch._fused_adagrad_(variables, gradients, accumulators, steps, lr=lr, lr_decay=0.0, weight_decay=0.0, eps=epsilon, maximize=False)


def _adagrad_with_fixed_slots(var: Any, accum: Any, grad: Any, lr: float, epsilon: float = 0.0) -> None:
    var.addcdiv_(grad, accum.sqrt().add_(number(epsilon, accum)), value=-lr)


def _adagrad(node: Node) -> Formula:
    return adagrad if node.attr("update_slots") else each(1, _adagrad_with_fixed_slots)


def _adagrad_dual_averaging(var: Any, total: Any, squares: Any, grad: Any, lr: float, l1: float, l2: float, step: int) -> None:
    total.add_(grad)
    squares.addcmul_(grad, grad)
    wanted = soft(total, l1 * step) if l1 > 0 else total
    torch.div(wanted * number(-lr, var), squares.sqrt().add_(l2 * step * lr), out=var)


def _proximal_adagrad(var: Any, accum: Any, grad: Any, lr: float, l1: float, l2: float) -> None:
    accum.addcmul_(grad, grad)
    rate = accum.rsqrt().mul_(number(lr, accum))
    var.addcmul_(grad, rate, value=-1)
    if l1 > 0:
        var.copy_(soft(var, rate * number(l1, rate)))
    var.div_(rate.mul_(number(l2, rate)).add_(number(1.0, rate)))


def _proximal_gradient_descent(var: Any, grad: Any, lr: float, l1: float, l2: float) -> None:
    var.sub_(grad, alpha=lr)
    if l1 > 0:
        var.copy_(soft(var, lr * l1))
    var.div_(number(1 + l2 * lr, var))


family("Adagrad", 1, _adagrad, together=True)
family("AdagradV2", 1, _adagrad)
family("AdagradDA", 2, lambda n: each(2, _adagrad_dual_averaging))
family("ProximalAdagrad", 1, lambda n: each(1, _proximal_adagrad), signed=True)
family("ProximalGradientDescent", 0, lambda n: each(0, _proximal_gradient_descent))


def _adadelta(var: Any, accum: Any, accum_update: Any, grad: Any, lr: float, rho: float, epsilon: float) -> None:
    offset = number(epsilon, accum)
    accum.lerp_(grad.square(), 1 - rho)
    update = (accum_update + offset).div_(accum + offset).sqrt_().mul_(grad)
    var.sub_(update, alpha=lr)
    accum_update.lerp_(update.square_(), 1 - rho)


def _rms_prop(var: Any, ms: Any, mom: Any, grad: Any, lr: float, rho: float, momentum: float, epsilon: float) -> None:
    ms.lerp_(grad.square(), 1 - rho)
    mom.mul_(number(momentum, mom)).addcdiv_(grad, (ms + number(epsilon, ms)).sqrt_(), value=lr)
    var.sub_(mom)


def _centered_rms_prop(var: Any, mg: Any, ms: Any, mom: Any, grad: Any, lr: float, rho: float, momentum: float, epsilon: float) -> None:
    ms.lerp_(grad.square(), 1 - rho)
    mg.lerp_(grad, 1 - rho)
    variance = torch.addcmul(ms, mg, mg, value=-1)
    mom.mul_(number(momentum, mom)).addcdiv_(grad, variance.add_(number(epsilon, ms)).sqrt_(), value=lr)
    var.sub_(mom)


family("Adadelta", 2, lambda n: each(2, _adadelta))
family("RMSProp", 2, lambda n: each(2, _rms_prop))
family("CenteredRMSProp", 3, lambda n: each(3, _centered_rms_prop))


def _ftrl(var: Any, accum: Any, linear: Any, grad: Any, lr: float, l1: float, l2: float, lr_power: float) -> None:
    _ftrl_with_shrinkage(var, accum, linear, grad, lr, l1, l2, 0.0, lr_power)


def _ftrl_with_shrinkage(
    var: Any, accum: Any, linear: Any, grad: Any, lr: float, l1: float, l2: float, l2_shrinkage: float, lr_power: float
) -> None:
    power = torch.sqrt if lr_power == -0.5 else lambda x: torch.pow(x, -lr_power)
    before = power(accum)
    accum.addcmul_(grad, grad)
    after = power(accum)
    linear.add_(grad).addcmul_(torch.sub(after, before), var, value=-1 / lr)
    if l2_shrinkage:
        linear.add_(var, alpha=2 * l2_shrinkage)
    quadratic = after.div_(number(lr, after)).add_(number(2 * l2, after))
    # Where the accumulator is still zero so is the quotient's denominator: such an element is zero, not 0 / 0.
    var.copy_(torch.where(linear.abs() > l1, soft(linear, l1).neg_().div_(quadratic), torch.zeros_like(var)))


family("Ftrl", 2, lambda n: each(2, _ftrl), signed=True)
family("FtrlV2", 2, lambda n: each(2, _ftrl_with_shrinkage), signed=True)


def _add_sign(var: Any, m: Any, grad: Any, lr: float, alpha: float, sign_decay: float, beta: float) -> None:
    m.lerp_(grad, 1 - beta)
    agreement = grad.sign().mul_(m.sign())
    var.addcmul_(grad, agreement.mul_(number(sign_decay, m)).add_(number(alpha, m)), value=-lr)


def _power_sign(var: Any, m: Any, grad: Any, lr: float, logbase: float, sign_decay: float, beta: float) -> None:
    m.lerp_(grad, 1 - beta)
    agreement = grad.sign().mul_(m.sign())
    var.addcmul_(grad, agreement.mul_(number(logbase * sign_decay, m)).exp_(), value=-lr)


family("AddSign", 1, lambda n: each(1, _add_sign))
family("PowerSign", 1, lambda n: each(1, _power_sign))
