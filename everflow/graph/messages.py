"""The messages that graphs are written in."""

from __future__ import annotations

from everflow.api import public
from everflow.proto import attr_value_pb2, graph_pb2, meta_graph_pb2, node_def_pb2

AttrValue = public("AttrValue")(attr_value_pb2.AttrValue)
NameAttrList = public("NameAttrList")(attr_value_pb2.NameAttrList)
NodeDef = public("NodeDef")(node_def_pb2.NodeDef)
GraphDef = public("GraphDef")(graph_pb2.GraphDef)
MetaGraphDef = public("MetaGraphDef")(meta_graph_pb2.MetaGraphDef)
TensorInfo = public("TensorInfo")(meta_graph_pb2.TensorInfo)
