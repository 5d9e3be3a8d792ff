"""LSTM and GRU cells as single ops: one step, or all steps of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import ranked
from everflow.ops.linalg.matrix_products import add_product, multiply

# Where the gates stand in the columns of weights: input, cell, forget, output.
ICFO = (0, 1, 2, 3)
IFCO = (0, 2, 1, 3)


def _gates(gates: Any, order: tuple[int, ...]) -> list[Any]:
    """The columns of the four gates as i, ci, f, o."""
    parts = gates.chunk(4, -1)
    return [parts[k] for k in order]


def _joined(di: Any, dci: Any, df: Any, do: Any, order: tuple[int, ...]) -> Any:
    parts: list[Any] = [None] * 4
    for k, part in zip(order, (di, dci, df, do)):
        parts[k] = part
    return torch.cat(parts, -1)


class _Cell:
    """The arithmetic of one step and of its gradient."""

    def __init__(self, forget_bias: float, cell_clip: float, use_peephole: bool, order: tuple[int, ...]) -> None:
        self.forget_bias, self.cell_clip, self.use_peephole, self.order = forget_bias, cell_clip, use_peephole, order

    def forward(self, gates: Any, cs_prev: Any, wci: Any, wcf: Any, wco: Any) -> tuple[Any, ...]:
        i, ci, f, o = _gates(gates, self.order)
        if self.use_peephole:
            i, f = i + wci * cs_prev, f + wcf * cs_prev
        i, ci = torch.sigmoid(i), torch.tanh(ci)
        f = torch.sigmoid(f + self.forget_bias if self.forget_bias else f)
        cs = torch.addcmul(ci * i, cs_prev, f)
        if self.cell_clip > 0:
            cs = cs.clamp(-self.cell_clip, self.cell_clip)
        o = torch.sigmoid(o + wco * cs if self.use_peephole else o)
        co = torch.tanh(cs)
        return i, cs, f, o, ci, co, co * o

    def backward(
        self, cs_prev: Any, peepholes: Any, i: Any, cs: Any, f: Any, o: Any, ci: Any, co: Any, cs_grad: Any, h_grad: Any
    ) -> tuple[Any, Any, Any]:
        """(gradient of the earlier cell state, of the gates, of the peepholes)."""
        do = o * (1 - o) * h_grad * co
        dcs = (1 - co * co) * h_grad * o + cs_grad
        if self.use_peephole:
            dcs = dcs + do * peepholes[2]
        dci = (1 - ci * ci) * dcs * i
        df = f * (1 - f) * dcs * cs_prev
        di = i * (1 - i) * dcs * ci
        cs_prev_grad = dcs * f
        weights = None
        if self.use_peephole:
            cs_prev_grad = cs_prev_grad + di * peepholes[0] + df * peepholes[1]
            weights = ((di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0))
        return cs_prev_grad, _joined(di, dci, df, do, self.order), weights


def _cell(node: Node, order: tuple[int, ...], has_bias: bool = True) -> _Cell:
    return _Cell(node.attr("forget_bias") if has_bias else 0.0, node.attr("cell_clip"), node.attr("use_peephole"), order)


def _check_sizes(x: Any, cs_prev: Any, h_prev: Any, w: Any, b: Any) -> None:
    """Refuses states and weights that don't go with an input, of one step or of several."""
    for name, value, rank in (("cs_prev", cs_prev, 2), ("h_prev", h_prev, 2), ("w", w, 2), ("b", b, 1)):
        if value.ndim != rank:
            raise invalid_argument(f"{name} must be {rank}D")
    batch, depth, size = x.shape[-2], x.shape[-1], cs_prev.shape[1]
    for what, found, expected in (
        ("cs_prev.dims(0) != batch_size", cs_prev.shape[0], batch),
        ("h_prev.dims(0) != batch_size", h_prev.shape[0], batch),
        ("h_prev.dims(1) != cell_size", h_prev.shape[1], size),
        ("w.dim_size(0) != input_size + cell_size", w.shape[0], depth + size),
        ("w.dim_size(1) != cell_size * 4", w.shape[1], 4 * size),
        ("b.dim_size(0) != cell_size * 4", b.shape[0], 4 * size),
    ):
        if found != expected:
            raise invalid_argument(f"{what}: {found} vs. {expected}")


def _block_cell(node: Node) -> Callable[..., Any]:
    cell = _cell(node, ICFO)

    def run(x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> Any:
        _check_sizes(x, cs_prev, h_prev, w, b)
        return cell.forward(multiply(torch.cat((x, h_prev), 1), w, b), cs_prev, wci, wcf, wco)

    return run


def _block_cell_grad(node: Node) -> Callable[..., Any]:
    cell = _Cell(0.0, 0.0, node.attr("use_peephole"), ICFO)

    def run(
        x: Any,
        cs_prev: Any,
        h_prev: Any,
        w: Any,
        wci: Any,
        wcf: Any,
        wco: Any,
        b: Any,
        i: Any,
        cs: Any,
        f: Any,
        o: Any,
        ci: Any,
        co: Any,
        cs_grad: Any,
        h_grad: Any,
    ) -> Any:
        cs_prev_grad, gates, weights = cell.backward(cs_prev, (wci, wcf, wco), i, cs, f, o, ci, co, cs_grad, h_grad)
        return (cs_prev_grad, gates, *(weights or (torch.zeros_like(wci), torch.zeros_like(wcf), torch.zeros_like(wco))))

    return run


def _cell_shape(o: Operation) -> Any:
    batch, _ = shapes.with_rank(o.inputs[0].dims, 2)
    (bias,) = shapes.with_rank(o.inputs[7].dims, 1)
    size = None if bias is None else bias // 4
    return [(batch, size)] * 7


def _cell_grad_shape(o: Operation) -> Any:
    batch, sizes = (o.inputs[0].dims or (None,))[0], o.inputs[7].dims or (None,)
    size = None if sizes[0] is None else sizes[0] // 4
    return [(batch, size), (batch, sizes[0]), *(t.dims for t in o.inputs[4:7])]


def _cell_gradient(o: Operation, *grads: Any) -> Any:
    x, cs_prev, h_prev, w, wci, wcf, wco, b = o.inputs
    i, cs, f, out, ci, co, _ = o.outputs
    cs_grad = grads[1] if grads[1] is not None else tf.zeros_like(cs)
    h_grad = grads[6] if grads[6] is not None else tf.zeros_like(cs)
    cs_prev_grad, gates, wci_grad, wcf_grad, wco_grad = apply(
        "LSTMBlockCellGrad",
        x,
        cs_prev,
        h_prev,
        w,
        wci,
        wcf,
        wco,
        b,
        i,
        cs,
        f,
        out,
        ci,
        co,
        cs_grad,
        h_grad,
        use_peephole=o.attr("use_peephole"),
    )
    both = tf.matmul(gates, w, transpose_b=True)
    depth = x.dims[1] if x.dims is not None and x.dims[1] is not None else tf.shape(x)[1]
    x_grad, h_prev_grad = both[:, :depth], both[:, depth:]
    x_grad.set_shape(x.get_shape())
    h_prev_grad.set_shape(h_prev.get_shape())
    w_grad = tf.matmul(tf.concat([x, h_prev], 1), gates, transpose_a=True)
    return x_grad, cs_prev_grad, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, apply("BiasAddGrad", gates)


op("LSTMBlockCell", kernel=_block_cell, shape=_cell_shape, gradient=_cell_gradient)
op("LSTMBlockCellGrad", kernel=_block_cell_grad, shape=ranked(_cell_grad_shape, 2, 2))


def _block(order: tuple[int, ...], has_bias: bool) -> Callable[..., Any]:
    def factory(node: Node) -> Callable[..., Any]:
        cell = _cell(node, order, has_bias)

        def run(seq_len_max: Any, x: Any, cs: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> Any:
            if x.ndim != 3:
                raise invalid_argument("x must be 3D")
            _check_sizes(x, cs, h, w, b)
            size = cs.shape[1]
            for name, weights in (("wci", wci), ("wcf", wcf), ("wco", wco)):
                if weights.ndim != 1:
                    raise invalid_argument(f"{name} must be 1D")
                if weights.shape[0] != size:
                    raise invalid_argument(f"{name}.dim_size(0) != cell_size: {weights.shape[0]} vs. {size}")
            steps, batch, depth = x.shape
            # What the inputs give to the gates does not depend on earlier steps: all of them at once.
            gates = multiply(x.reshape(steps * batch, depth), w[:depth], b).view(steps, batch, w.shape[1])
            recurrent = w[depth:]
            found = [x.new_zeros(steps, batch, size) for _ in range(7)]
            for t in range(min(int(seq_len_max), steps)):
                values = cell.forward(add_product(gates[t], h, recurrent), cs, wci, wcf, wco)
                for into, value in zip(found, values):
                    into[t] = value
                cs, h = values[1], values[6]
            return tuple(found)

        return run

    return factory


def _block_grad(order: tuple[int, ...]) -> Callable[..., Any]:
    def factory(node: Node) -> Callable[..., Any]:
        cell = _Cell(0.0, 0.0, node.attr("use_peephole"), order)

        def run(
            seq_len_max: Any,
            x: Any,
            cs_prev: Any,
            h_prev: Any,
            w: Any,
            wci: Any,
            wcf: Any,
            wco: Any,
            b: Any,
            i: Any,
            cs: Any,
            f: Any,
            o: Any,
            ci: Any,
            co: Any,
            h: Any,
            cs_grad: Any,
            h_grad: Any,
        ) -> Any:
            steps, batch, depth = x.shape
            recurrent = w[depth:].t()
            gates = x.new_zeros(steps, batch, w.shape[1])
            peepholes = [torch.zeros_like(v) for v in (wci, wcf, wco)]
            dcs, dh = torch.zeros_like(cs_prev), torch.zeros_like(h_prev)
            length = min(int(seq_len_max), steps)
            for t in reversed(range(length)):
                before = cs[t - 1] if t else cs_prev
                dcs, gates[t], weights = cell.backward(
                    before, (wci, wcf, wco), i[t], cs[t], f[t], o[t], ci[t], co[t], cs_grad[t] + dcs, h_grad[t] + dh
                )
                dh = gates[t] @ recurrent
                if weights is not None:
                    peepholes = [total + part for total, part in zip(peepholes, weights)]
            flat = gates.view(steps * batch, w.shape[1])
            # What comes after the longest sequence has no part in it, be it infinite.
            used, last = flat[: length * batch], length * batch
            earlier = torch.cat((h_prev[None], h[:-1]))[:length].reshape(last, h_prev.shape[1])
            w_grad = torch.cat((x[:length].reshape(last, depth).t() @ used, earlier.t() @ used))
            return (flat @ w[:depth].t()).view(steps, batch, depth), dcs, dh, w_grad, *peepholes, flat.sum(0)

        return run

    return factory


def _block_shape(o: Operation) -> Any:
    steps, batch, _ = shapes.with_rank(o.inputs[1].dims, 3)
    (bias,) = shapes.with_rank(o.inputs[8].dims, 1)
    size = None if bias is None else bias // 4
    return [(steps, batch, size)] * 7


def _block_gradient(grad_op: str) -> Callable[..., Any]:
    def gradient(o: Any, *grads: Any) -> Any:
        cs_grad, h_grad = (g if g is not None else tf.zeros_like(o.outputs[1]) for g in (grads[1], grads[6]))
        return None, *apply(grad_op, *o.inputs, *o.outputs, cs_grad, h_grad, use_peephole=o.attr("use_peephole"))

    return gradient


def _block_grad_shape(o: Operation) -> Any:
    return [t.dims for t in o.inputs[1:9]]


op("BlockLSTM", kernel=_block(ICFO, has_bias=True), shape=_block_shape, gradient=_block_gradient("BlockLSTMGrad"))
op("BlockLSTMV2", kernel=_block(IFCO, has_bias=False), shape=_block_shape, gradient=_block_gradient("BlockLSTMGradV2"))
op("BlockLSTMGrad", kernel=_block_grad(ICFO), shape=ranked(_block_grad_shape, None, 3, 2, 2, 2, 1, 1, 1, 1))
op("BlockLSTMGradV2", kernel=_block_grad(IFCO), shape=ranked(_block_grad_shape, None, 3, 2, 2, 2, 1, 1, 1, 1))


def _gru(x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any) -> Any:
    r, u = torch.sigmoid(multiply(torch.cat((x, h_prev), 1), w_ru, b_ru)).chunk(2, 1)
    c = torch.tanh(multiply(torch.cat((x, r * h_prev), 1), w_c, b_c))
    return r, u, c, u * h_prev + (1 - u) * c


def _gru_grad(x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any, r: Any, u: Any, c: Any, d_h: Any) -> Any:
    depth = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    by_candidate = d_c_bar @ w_c.t()
    d_hr = by_candidate[:, depth:]
    d_r_bar = d_hr * h_prev * r * (1 - r)
    gates = torch.cat((d_r_bar, d_u_bar), 1)
    by_gates = gates @ w_ru.t()
    return by_candidate[:, :depth] + by_gates[:, :depth], by_gates[:, depth:] + d_hr * r + d_h * u, d_c_bar, gates


def _gru_gradient(o: Operation, *grads: Any) -> Any:
    x, h_prev, w_ru, w_c, b_ru, b_c = o.inputs
    r, u, c, _ = o.outputs
    d_x, d_h_prev, d_c_bar, gates = apply("GRUBlockCellGrad", x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, grads[3])
    x_h = tf.concat([x, h_prev], 1)
    x_hr = tf.concat([x, h_prev * r], 1)
    return (
        d_x,
        d_h_prev,
        tf.matmul(x_h, gates, transpose_a=True),
        tf.matmul(x_hr, d_c_bar, transpose_a=True),
        apply("BiasAddGrad", gates),
        apply("BiasAddGrad", d_c_bar),
    )


def _gru_grad_shape(o: Operation) -> Any:
    x, h_prev, gates = (shapes.with_rank(t.dims, 2) for t in o.inputs[:3])
    return [x, h_prev, h_prev, (h_prev[0], gates[1])]


op("GRUBlockCell", kernel=lambda node: _gru, shape=lambda o: [o.inputs[1].dims] * 4, gradient=_gru_gradient)
op("GRUBlockCellGrad", kernel=lambda node: _gru_grad, shape=_gru_grad_shape)
