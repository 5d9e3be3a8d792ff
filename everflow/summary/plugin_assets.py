"""Assets: small files that a plugin of TensorBoard wants beside the events of a graph."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.graph import Graph

_PREFIX = "__tensorboard_plugin_asset__"
_NAMES = "__tensorboard_plugin_asset_names__"


@internal("summary.plugin_asset.PluginAsset")
class PluginAsset(metaclass=abc.ABCMeta):
    """What a plugin writes; `plugin_name` names it."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> dict[str, Any]:
        """The contents of files by their names."""
        raise NotImplementedError


@internal("summary.plugin_asset.get_plugin_asset")
def get_plugin_asset(plugin_asset_cls: Any, graph: Graph | None = None) -> Any:
    """The asset of this class in a graph, made at its first use."""
    graph = graph or tf.get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    name = _PREFIX + plugin_asset_cls.plugin_name
    held = graph.get_collection(name)
    if held:
        if not isinstance(held[0], plugin_asset_cls):
            raise ValueError(f"Plugin name collision: {plugin_asset_cls.plugin_name}")
        return held[0]
    graph.add_to_collection(_NAMES, plugin_asset_cls.plugin_name)
    asset = plugin_asset_cls()
    graph.add_to_collection(name, asset)
    return asset


@internal("summary.plugin_asset.get_all_plugin_assets")
def get_all_plugin_assets(graph: Graph | None = None) -> list[Any]:
    """All assets of a graph."""
    graph = graph or tf.get_default_graph()
    return [graph.get_collection(_PREFIX + name)[0] for name in graph.get_collection(_NAMES)]
