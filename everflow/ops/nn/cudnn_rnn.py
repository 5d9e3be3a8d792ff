"""The recurrent ops of cuDNN (CudnnRNN and its kin) on any device: layers of LSTM, GRU or plain cells in one op.

All weights lie in one flat tensor of parameters, as cuDNN lays them out: for each layer and direction the matrices of the gates for the
inputs, then those for the state, then a projection's; the biases of all layers follow in the same order.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.philox import Philox

GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}


@dataclasses.dataclass(frozen=True)
class Network:
    """What the parameters describe."""

    mode: str
    layers: int
    units: int
    input_size: int
    directions: int
    skips_input: bool
    projected: int = 0

    @classmethod
    def of(cls, node: Node, layers: int, units: int, input_size: int) -> Network:
        mode, input_mode = _text(node, "rnn_mode"), _text(node, "input_mode")
        # "auto_select" skips the product with the inputs where sizes allow it.
        skips = input_mode == "skip_input" or (input_mode == "auto_select" and input_size == units)
        if skips and input_size != units:
            raise invalid_argument(f"Inputs can be skipped only if their size is that of the units: {input_size} vs. {units}")
        projected = node.attr("num_proj") if "num_proj" in node.attrs else 0
        return cls(mode, layers, units, input_size, 2 if _text(node, "direction") == "bidirectional" else 1, skips, projected)

    @property
    def gates(self) -> int:
        return GATES[self.mode]

    @property
    def output_size(self) -> int:
        return self.projected or self.units

    def inputs_of(self, layer: int) -> int:
        return self.input_size if layer == 0 else self.output_size * self.directions

    def weight_shapes(self) -> Iterator[tuple[tuple[int, int], bool]]:
        """The matrices in order, and whether each lies in the parameters; those of skipped inputs do not."""
        for layer in range(self.layers):
            for _ in range(self.directions):
                for _ in range(self.gates):
                    yield (self.units, self.inputs_of(layer)), not (self.skips_input and layer == 0)
                for _ in range(self.gates):
                    yield (self.units, self.output_size), True
                if self.projected:
                    yield (self.projected, self.units), True

    @property
    def biases(self) -> int:
        return self.layers * self.directions * 2 * self.gates

    @property
    def size(self) -> int:
        """How many numbers the parameters are."""
        return sum(math.prod(shape) for shape, kept in self.weight_shapes() if kept) + self.biases * self.units

    def split(self, params: Any) -> tuple[list[Any], list[Any]]:
        """Matrices and biases, as views of the parameters; skipped inputs have the identity."""
        if params.numel() < self.size:
            raise invalid_argument(f"The parameters should be {self.size} numbers, but are {params.numel()}")
        at, weights, biases = 0, [], []
        for shape, kept in self.weight_shapes():
            size = math.prod(shape) if kept else 0
            weights.append(params[at : at + size].view(shape) if kept else torch.eye(shape[0], dtype=params.dtype, device=params.device))
            at += size
        for _ in range(self.biases):
            biases.append(params[at : at + self.units])
            at += self.units
        return weights, biases

    def join(self, weights: list[Any], biases: list[Any]) -> Any:
        """The parameters of matrices and biases."""
        kept = [w.reshape(-1) for w, (_, is_kept) in zip(weights, self.weight_shapes()) if is_kept]
        return torch.cat([*kept, *(b.reshape(-1) for b in biases)])

    def layer_weights(self, params: Any) -> list[list[Any]]:
        """What torch's functions take for each layer: both matrices and biases (and the projection) of each direction."""
        weights, biases = self.split(params)
        gates, step = self.gates, 2 * self.gates + bool(self.projected)
        flat: list[Any] = []
        for k in range(self.layers * self.directions):
            matrices, added = weights[k * step : (k + 1) * step], biases[k * 2 * gates : (k + 1) * 2 * gates]
            flat += [torch.cat(part) for part in (matrices[:gates], matrices[gates : 2 * gates], added[:gates], added[gates:])]
            flat += matrices[2 * gates :]
        each = len(flat) // self.layers
        return [flat[k * each : (k + 1) * each] for k in range(self.layers)]


def _text(node: Node, name: str) -> str:
    value = node.attr(name)
    return value.decode() if isinstance(value, bytes) else value


def _number(tensor: Any) -> int:
    return int(tensor.item())


def _params_size(node: Node) -> Callable[..., Any]:
    dtype = torch.int64 if node.attr("S").name == "int64" else torch.int32
    return lambda layers, units, size: torch.tensor([Network.of(node, _number(layers), _number(units), _number(size)).size], dtype=dtype)


def _params_to_canonical(node: Node) -> Callable[..., Any]:
    def run(layers: Any, units: Any, size: Any, params: Any) -> Any:
        weights, biases = Network.of(node, _number(layers), _number(units), _number(size)).split(params)
        _check_counts(node, weights, biases)
        return tuple(t.clone() for t in (*weights, *biases))

    return run


def _check_counts(node: Node, weights: list[Any], biases: list[Any]) -> None:
    attrs = node.attrs
    wanted = (attrs.get("num_params", attrs.get("num_params_weights")), attrs.get("num_params", attrs.get("num_params_biases")))
    found = len(weights), len(biases)
    if wanted != found:
        raise invalid_argument(
            f"Number of params mismatch. Expected {found[0]} weights and {found[1]} biases, got {wanted[0]} and {wanted[1]}"
        )


def _canonical_to_params(node: Node) -> Callable[..., Any]:
    def run(layers: Any, units: Any, size: Any, *given: Any) -> Any:
        network = Network.of(node, _number(layers), _number(units), _number(size))
        shapes = list(network.weight_shapes())
        weights, biases = list(given[: len(shapes)]), list(given[len(shapes) :])
        _check_counts(node, shapes, list(range(network.biases)))
        for weight, (shape, kept) in zip(weights, shapes):
            if kept and weight.numel() != math.prod(shape):
                raise invalid_argument(f"Params size mismatch. Expected {math.prod(shape)}, got {weight.numel()}")
        for bias in biases:
            if bias.numel() != network.units:
                raise invalid_argument(f"Params size mismatch. Expected {network.units}, got {bias.numel()}")
        return network.join(weights, biases)

    return run


class _Forward:
    """One run of a network over sequences: time first, states as [layer and direction, batch, units]."""

    def __init__(self, network: Network, lengths: Any) -> None:
        self.network, self.lengths = network, lengths

    def __call__(self, x: Any, h: Any, c: Any, params: Any, masks: list[Any]) -> tuple[Any, Any, Any]:
        network, outputs_h, outputs_c = self.network, [], []
        # torch's functions are called as cuDNN's modes are, and know the gates in the same order: i, f, g, o and r, z, n.
        run, many = getattr(torch._VF, network.mode), network.directions
        for k, weights in enumerate(network.layer_weights(params)):
            rows = slice(k * many, (k + 1) * many)
            before = (h[rows], c[rows]) if network.mode == "lstm" else h[rows]
            x, *after = self._layer(run, x, before, weights)
            outputs_h.append(after[0])
            outputs_c += after[1:]
            if masks and k < network.layers - 1:
                x = x * masks[k]
        return x, torch.cat(outputs_h), torch.cat(outputs_c) if outputs_c else None

    def _layer(self, run: Callable[..., Any], x: Any, before: Any, weights: list[Any]) -> tuple[Any, ...]:
        options = (True, 1, 0.0, False, self.network.directions == 2)
        contiguous = tuple(b.contiguous() for b in before) if isinstance(before, tuple) else before.contiguous()
        if self.lengths is None:
            return run(x, contiguous, weights, *options, False)
        # Sequences without any step run for one, which is then forgotten.
        lengths = self.lengths.cpu().long()
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths.clamp(min=1), enforce_sorted=False)
        order, back = packed.sorted_indices, packed.unsorted_indices

        def sorted_rows(state: Any) -> Any:
            return state.index_select(1, order)

        sorted_state = tuple(map(sorted_rows, contiguous)) if isinstance(contiguous, tuple) else sorted_rows(contiguous)
        data, *states = run(packed.data, packed.batch_sizes, sorted_state, weights, *options)
        whole = torch.nn.utils.rnn.PackedSequence(data, packed.batch_sizes, order, back)
        output, _ = torch.nn.utils.rnn.pad_packed_sequence(whole, total_length=x.shape[0])
        states = [state.index_select(1, back) for state in states]
        if not bool((lengths > 0).all()):
            some = (lengths > 0).to(x.device)[None, :, None]
            output = torch.where(some, output, torch.zeros_like(output))
            starts = contiguous if isinstance(contiguous, tuple) else (contiguous,)
            states = [torch.where(some, state, start) for state, start in zip(states, starts)]
        return output, *states


def _network(node: Node, x: Any, h: Any, c: Any, time_major: bool) -> Network:
    """The network that inputs and states of these shapes belong to."""
    if x.dim() != 3 or h.dim() != 3:
        raise invalid_argument(f"Inputs and states must be 3-D, got {list(x.shape)} and {list(h.shape)}")
    many = 2 if _text(node, "direction") == "bidirectional" else 1
    rows, batch = (h.shape[0], h.shape[1]) if time_major else (h.shape[1], h.shape[0])
    units = c.shape[2] if c.dim() == 3 else h.shape[2]
    network = Network.of(node, rows // many, units, x.shape[2])
    if rows % many or batch != x.shape[1 if time_major else 0] or h.shape[2] != network.output_size:
        raise invalid_argument(f"Invalid input_h shape: {list(h.shape)}")
    if network.mode == "lstm" and tuple(c.shape) != (*h.shape[:2], units):
        raise invalid_argument(f"Invalid input_c shape: {list(c.shape)}")
    return network


def _checked_lengths(lengths: Any, steps: int, batch: int) -> Any:
    """The lengths of sequences; None where all take all steps."""
    if lengths is None:
        return None
    if tuple(lengths.shape) != (batch,):
        raise invalid_argument(f"sequence_lengths must be a vector of the batch's size {batch}, got {list(lengths.shape)}")
    if bool((lengths < 0).any()) or bool((lengths > steps).any()):
        raise invalid_argument(f"sequence_lengths must be between 0 and {steps}, got {lengths.tolist()}")
    return None if bool((lengths == steps).all()) else lengths


def _time_first(tensor: Any, time_major: bool) -> Any:
    return tensor if time_major or tensor.dim() < 3 else tensor.transpose(0, 1)


def _wide(tensor: Any) -> Any:
    """Halves are computed as floats."""
    return tensor.float() if tensor.dtype == torch.float16 else tensor


def _kernel(version: int) -> Callable[[Node], Any]:
    def make(node: Node) -> Callable[..., Any]:
        time_major = bool(node.attrs.get("time_major", True))
        drop = float(node.attr("dropout")) if node.attr("is_training") else 0.0
        drawing = node.context.state(node, lambda: Philox(node.attr("seed"), node.attr("seed2"))) if drop > 0 else None

        def run(x: Any, h: Any, c: Any, params: Any, lengths: Any = None) -> Any:
            network = _network(node, x, h, c, time_major)
            first, first_h, first_c = (_wide(_time_first(t, time_major)) for t in (x, h, c))
            steps, batch = first.shape[:2]
            masks: list[Any] = []
            if drawing is not None:
                size = network.output_size * network.directions
                drawn = [drawing.uniform((steps, batch, size), dtypes.float32) for _ in range(network.layers - 1)]
                masks = [(numbers >= drop).to(first) / (1 - drop) for numbers in drawn]
            forward = _Forward(network, _checked_lengths(lengths, steps, batch))
            output, last_h, last_c = forward(first, first_h, first_c, _wide(params), masks)
            results = (output, last_h, params.new_zeros(()) if last_c is None else last_c)
            reserve = torch.cat([mask.reshape(-1) for mask in masks]).to(x.dtype) if masks else params.new_empty(0)
            host = () if version == 1 else (torch.empty(0, dtype=torch.int8),)
            return (*(_time_first(t, time_major).to(x.dtype).contiguous() for t in results), reserve, *host)

        return run

    return make


def _backprop(version: int) -> Callable[[Node], Any]:
    def make(node: Node) -> Callable[..., Any]:
        time_major = bool(node.attrs.get("time_major", True))

        def run(x: Any, h: Any, c: Any, params: Any, *rest: Any) -> Any:
            lengths, rest = (rest[0], rest[1:]) if version == 3 else (None, rest)
            dys, reserve = rest[3:6], rest[6]
            network = _network(node, x, h, c, time_major)
            with torch.inference_mode(False), torch.enable_grad():
                # Clones, because what a session computes can't be differentiated by torch.
                given = [t.clone().requires_grad_() for t in (x, h, c, params)]
                first, first_h, first_c = (_wide(_time_first(t, time_major)) for t in given[:3])
                steps, batch = first.shape[:2]
                shape = (network.layers - 1, steps, batch, network.output_size * network.directions)
                masks = list(_wide(reserve.clone()).reshape(shape)) if reserve.numel() else []
                forward = _Forward(network, _checked_lengths(lengths, steps, batch))
                results = forward(first, first_h, first_c, _wide(given[3]), masks)
                pairs = [(result, _wide(_time_first(dy.clone(), time_major))) for result, dy in zip(results, dys) if result is not None]
                outputs, gradients = zip(*pairs)
                found = torch.autograd.grad(outputs, given, gradients, allow_unused=True)
            return tuple(torch.zeros_like(t) if dt is None else dt.to(t.dtype) for dt, t in zip(found, (x, h, c, params)))

        return run

    return make


def _shape(o: Operation) -> Any:
    x, h, c = (t.dims for t in o.inputs[:3])
    mode, direction = (v.decode() if isinstance(v, bytes) else v for v in (o.attr("rnn_mode"), o.attr("direction")))
    more: list[Any] = [(None,), None][: len(o.outputs) - 3]
    if x is not None and len(x) != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {len(x)}")
    if h is not None and len(h) != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {len(h)}")
    size = None if h is None or h[2] is None else h[2] * (2 if direction == "bidirectional" else 1)
    output = (None if x is None else x[0], None if x is None else x[1], size)
    return [output, h, c if mode == "lstm" else (), *more]


def _gradient(version: int) -> Callable[..., Any]:
    backprop = "CudnnRNNBackprop" + {1: "", 2: "V2", 3: "V3"}[version]
    names = ["rnn_mode", "input_mode", "direction", "dropout", "seed", "seed2", *(["num_proj", "time_major"] if version == 3 else [])]

    def gradient(o: Operation, *dys: Any) -> Any:
        if not o.attr("is_training"):
            raise ValueError(f"To use {o.type} in gradients, is_training must be set to True.")
        kept = o.outputs[3 : 4 if version == 1 else 5]
        found = apply(backprop, *o.inputs, *o.outputs[:3], *dys[:3], *kept, **{name: o.attr(name) for name in names})
        return (*found, None) if version == 3 else found

    return gradient


for _version, _suffix in ((1, ""), (2, "V2"), (3, "V3")):
    op(f"CudnnRNN{_suffix}", kernel=_kernel(_version), shape=_shape, gradient=_gradient(_version))
    op(f"CudnnRNNBackprop{_suffix}", kernel=_backprop(_version), shape=lambda o: [t.dims for t in o.inputs[:4]])


def _canonical_shape(o: Operation) -> Any:
    attrs = o.node_def.attr
    weights = attrs["num_params" if "num_params" in attrs else "num_params_weights"].i
    return [(None, None) if k < weights else (None,) for k in range(len(o.outputs))]


op("CudnnRNNParamsSize", kernel=_params_size, shape=lambda o: (1,), gradient=not_differentiable)
for _suffix in ("", "V2"):
    op(f"CudnnRNNParamsToCanonical{_suffix}", kernel=_params_to_canonical, shape=_canonical_shape)
    op(f"CudnnRNNCanonicalToParams{_suffix}", kernel=_canonical_to_params, shape=lambda o: (None,))
