"""The messages that training data is written in: tf.train.Example and what it is made of."""

from __future__ import annotations

from everflow.api import public
from everflow.proto import example_pb2, feature_pb2

Example = public("train.Example")(example_pb2.Example)
SequenceExample = public("train.SequenceExample")(example_pb2.SequenceExample)
Features = public("train.Features")(feature_pb2.Features)
Feature = public("train.Feature")(feature_pb2.Feature)
FeatureLists = public("train.FeatureLists")(feature_pb2.FeatureLists)
FeatureList = public("train.FeatureList")(feature_pb2.FeatureList)
BytesList = public("train.BytesList")(feature_pb2.BytesList)
FloatList = public("train.FloatList")(feature_pb2.FloatList)
Int64List = public("train.Int64List")(feature_pb2.Int64List)
