"""Pictures of models, drawn by Graphviz."""

from __future__ import annotations

import os
from typing import Any

from everflow.api import internal, public
from everflow.keras.layers.wrappers import Wrapper
from everflow.keras.network import Network
from everflow.keras.sequential import Sequential

_MISSING = "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work."


def _pydot() -> Any:
    """The module that makes graphs for Graphviz; None where it is not installed."""
    try:
        import pydot
    except ImportError:
        return None
    return pydot


@internal("keras.utils.vis_utils.check_pydot")
def check_pydot() -> bool:
    """Whether pydot and Graphviz are there."""
    pydot = _pydot()
    if pydot is None:
        return False
    try:
        pydot.Dot.create(pydot.Dot())
    except OSError:
        return False
    return True


def _label(layer: Any, show_shapes: bool, show_layer_names: bool) -> str:
    kind = type(layer).__name__
    if isinstance(layer, Wrapper):
        kind = f"{kind}({type(layer.layer).__name__})"
    label = f"{layer.name}: {kind}" if show_layer_names else kind
    if not show_shapes:
        return label

    def said(attribute: str) -> str:
        try:
            shape = getattr(layer, attribute)
        except AttributeError:
            return "?"
        return ", ".join(map(str, shape)) if isinstance(shape, list) else str(shape)

    shapes = said("input_shape"), said("output_shape")
    return f"{label}\n|{{input:|output:}}|{{{{{shapes[0]}}}|{{{shapes[1]}}}}}"


@public("keras.utils.model_to_dot")
def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    subgraph: bool = False,
) -> Any:
    """A model as a graph of pydot: a box for each layer, an arrow for each tensor."""
    if not check_pydot():
        raise ImportError(_MISSING)
    pydot = _pydot()
    settings: dict[str, Any] = {"label": model.name, "labeljust": "l"}
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
    else:
        dot, settings = pydot.Dot(), {"rankdir": rankdir, "concentrate": True, "dpi": dpi}
    for key, value in settings.items():
        dot.set(key, value)
    if not subgraph:
        dot.set_node_defaults(shape="record")
    if isinstance(model, Sequential) and not model.built:
        model.build()
    layers = model._layers if model._is_graph_network else model.layers

    def is_expanded(layer: Any) -> bool:
        return expand_nested and isinstance(layer, Network) and layer._is_graph_network

    for layer in layers:
        if is_expanded(layer):
            dot.add_subgraph(model_to_dot(layer, show_shapes, show_layer_names, rankdir, expand_nested, subgraph=True))
        else:
            dot.add_node(pydot.Node(str(id(layer)), label=_label(layer, show_shapes, show_layer_names)))
    for layer in layers:
        for i, node in enumerate(layer._inbound_nodes):
            if f"{layer.name}_ib-{i}" not in getattr(model, "_network_nodes", ()):
                continue
            for before, *_ in node.iterate_inbound():
                source = before.layers[-1] if is_expanded(before) else before
                target = layer.layers[0] if is_expanded(layer) else layer
                dot.add_edge(pydot.Edge(str(id(source)), str(id(target))))
    return dot


@public("keras.utils.plot_model")
def plot_model(
    model: Any,
    to_file: str = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
) -> Any:
    """Writes a picture of a model; the ending of the file's name says which kind."""
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    kind = os.path.splitext(to_file)[1][1:] or "png"
    path = to_file if os.path.splitext(to_file)[1] else f"{to_file}.{kind}"
    dot.write(path, format=kind)
    try:
        from IPython import display
    except ImportError:
        return None
    return display.Image(filename=path)
