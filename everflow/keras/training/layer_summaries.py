"""Summaries that layers make (`tf.compat.v2.summary.scalar` in `call`), written where a model is trained while somebody writes summaries.

A model that runs in a graph was built before that, so its graph keeps what may be written.
"""

from __future__ import annotations

import re
from typing import Any

from everflow.keras.backend.functions import function
from everflow.summary.recording import defaults
from everflow.summary.writing import write


def summaries_of(model: Any, graph: Any, fed: list[Any]) -> list[tuple[str, Any, Any]]:
    """(tag, tensor, metadata) of the summaries that a model's layers made: those that need nothing but what is fed and its weights."""
    noted = [s for s in getattr(graph, "unwritten", None) or () if s[1].graph is graph]
    if not noted:
        return []
    layers = {layer.name for layer in model.layers}
    given = {t.op for t in fed}
    captured = {inside.op: outside for outside, inside in graph.captures.items()}
    weights = {id(w.handle) for w in model.weights}
    found = []
    for tag, tensor, metadata in noted:
        needed = _placeholders_before(tensor)
        own = needed - captured.keys()
        first, _, rest = tag.partition("/")
        # What a second layer of that name is called in the graph.
        plain = first if first in layers or first == model.name else re.sub(r"_\d+$", "", first)
        is_of_model = own or (plain in layers or plain == model.name) and all(id(captured[op]) in weights for op in needed)
        if own <= given and is_of_model:
            # Layers of a functional model were called one by one, outside of its scope.
            scope = f"{model.name}/{plain}" if plain in layers else plain if plain == model.name else first
            found.append((f"{scope}/{rest}" if rest else scope, tensor, metadata))
    return found


def _placeholders_before(tensor: Any) -> set[Any]:
    found, queue = {tensor.op}, [tensor.op]
    while queue:
        op = queue.pop()
        for before in (*(t.op for t in op.inputs), *op.control_inputs):
            if before not in found:
                found.add(before)
                queue.append(before)
    return {op for op in found if op.type.startswith("Placeholder")}


def with_summaries(plain: Any, summaries: list[tuple[str, Any, Any]]) -> Any:
    """The function of a step, which also writes summaries while there is a writer."""
    count = len(plain.outputs)
    whole: list[Any] = []

    def run(inputs: list[Any]) -> list[Any]:
        if defaults()[0] is None:
            return plain(inputs)
        if not whole:
            whole.append(function(plain.inputs, [*plain.outputs, *(t for _, t, _ in summaries)], updates=plain.updates))
        found = whole[0](inputs)
        for (tag, _, metadata), value in zip(summaries, found[count:]):
            write(tag, value, metadata=metadata)
        return found[:count]

    return run
