"""Models as graphs of pydot, which is played by a few classes that note what they are given."""

import sys
import types

import pytest

import everflow as tf

L, keras = tf.keras.layers, tf.keras


class Graph:
    """What pydot's graphs are asked to do."""

    def __init__(self, **kwargs):
        self.settings, self.nodes, self.edges, self.inner, self.written = dict(kwargs), {}, [], [], None

    def set(self, name, value):
        self.settings[name] = value

    def set_node_defaults(self, **kwargs):
        self.settings["nodes"] = kwargs

    def add_node(self, node):
        self.nodes[node[0]] = node[1]

    def add_edge(self, edge):
        self.edges.append(edge)

    def add_subgraph(self, graph):
        self.inner.append(graph)

    def create(self):
        return b""

    def write(self, path, format):
        self.written = (path, format)


@pytest.fixture
def pydot(monkeypatch):
    made = types.SimpleNamespace(Dot=Graph, Cluster=Graph, Node=lambda name, label: (name, label), Edge=lambda a, b: (a, b))
    monkeypatch.setitem(sys.modules, "pydot", made)
    return made


def branched():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    inner = keras.Sequential([L.Dense(3, input_shape=(3,), name="u"), L.Dense(3, name="v")], name="inner")
    return keras.Model([a, b], L.Add(name="sum")([inner(a), b]), name="outer")


def shown(dot, *models):
    """Labels, and edges between labels."""
    names = {str(id(layer)): layer.name for model in models for layer in model._layers}
    return sorted(dot.nodes.values()), sorted((names[x], names[y]) for x, y in dot.edges)


def test_layers_are_boxes_and_tensors_arrows(pydot):
    model = branched()
    dot = keras.utils.model_to_dot(model)
    assert dot.settings == {"rankdir": "TB", "concentrate": True, "dpi": 96, "nodes": {"shape": "record"}}
    labels, edges = shown(dot, model)
    assert labels == ["a: InputLayer", "b: InputLayer", "inner: Sequential", "sum: Add"]
    assert edges == [("a", "inner"), ("b", "sum"), ("inner", "sum")]


def test_labels_may_tell_shapes_and_wrapped_layers_without_names(pydot):
    model = keras.Sequential([L.TimeDistributed(L.Dense(2), input_shape=(4, 3), name="t")])
    dot = keras.utils.model_to_dot(model, show_shapes=True, show_layer_names=False, rankdir="LR", dpi=50)
    assert (dot.settings["rankdir"], dot.settings["dpi"]) == ("LR", 50)
    assert "TimeDistributed(Dense)\n|{input:|output:}|{{(None, 4, 3)}|{(None, 4, 2)}}" in dot.nodes.values()
    joined = keras.utils.model_to_dot(branched(), show_shapes=True)
    assert "sum: Add\n|{input:|output:}|{{(None, 3), (None, 3)}|{(None, 3)}}" in joined.nodes.values()


def test_models_inside_may_be_opened(pydot):
    model = branched()
    dot = keras.utils.model_to_dot(model, expand_nested=True)
    (inner,) = dot.inner
    assert {k: inner.settings[k] for k in ("style", "graph_name", "label", "labeljust")} == {
        "style": "dashed",
        "graph_name": "inner",
        "label": "inner",
        "labeljust": "l",
    }
    assert sorted(label.split(":")[0] for label in inner.nodes.values()) == ["u", "u_input", "v"]
    assert "inner: Sequential" not in dot.nodes.values()
    names = {str(id(layer)): layer.name for m in (model, model.get_layer("inner")) for layer in m._layers}
    assert ("v", "sum") in {(names[x], names[y]) for x, y in dot.edges}


def test_the_ending_says_which_kind_of_picture(pydot, monkeypatch):
    made = []
    monkeypatch.setattr(Graph, "write", lambda self, path, format: made.append((path, format)))
    model = keras.Sequential([L.Dense(1, input_shape=(2,))])
    for path in ("m.svg", "m"):
        keras.utils.plot_model(model, path)
    assert made == [("m.svg", "svg"), ("m.png", "png")]


def test_what_is_missing_is_said(pydot, monkeypatch):
    model = keras.Sequential([L.Dense(1, input_shape=(2,))])

    def missing(self):
        raise OSError("no dot")

    monkeypatch.setattr(Graph, "create", missing)
    with pytest.raises(ImportError, match="Failed to import pydot"):
        keras.utils.model_to_dot(model)
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(ImportError, match="Failed to import pydot"):
        keras.utils.plot_model(model)
    with pytest.raises(ValueError, match="You must provide an `input_shape` argument"):
        monkeypatch.setitem(sys.modules, "pydot", pydot)
        monkeypatch.setattr(Graph, "create", lambda self: b"")
        keras.utils.model_to_dot(keras.Sequential([L.Dense(1)]))
