"""The graphs of forests: growing them by a batch, and asking them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.variables import VariableDeviceChooser
from everflow.contrib.tensor_forest.data import parse_data, parse_labels
from everflow.contrib.tensor_forest.hyperparameters import build_params_proto
from everflow.contrib.tensor_forest.resources import fertile_stats_variable, tree_variable
from everflow.ops.core.registry import apply
from everflow.platform import logging
from everflow.proto import tensor_forest_params_pb2

BELOW = "contrib.tensor_forest.python.tensor_forest."


@public(BELOW + "get_epoch_variable")
def get_epoch_variable() -> Any:
    """The count of epochs that an input pipeline keeps, or 0."""
    for variable in tf.local_variables():
        if "limit_epochs/epoch" in variable.op.name:
            return tf.reshape(variable, [1])
    return [0]


@public(BELOW + "TreeVariables")
class TreeVariables:
    """A tree and, for training, its statistics."""

    def __init__(self, params: Any, tree_num: int, training: bool, tree_config: Any = "", tree_stat: Any = "") -> None:
        if not isinstance(params.__dict__.get("params_proto"), tensor_forest_params_pb2.TensorForestParams):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = fertile_stats_variable(params, tree_stat, self.get_tree_name("stats", tree_num)) if training else None
        self.tree = tree_variable(params, tree_config, self.stats, self.get_tree_name("tree", tree_num))

    def get_tree_name(self, name: str, num: int) -> str:
        """What a resource of a tree is called."""
        return f"{name}-{num}"


@public(BELOW + "ForestVariables")
class ForestVariables:
    """The variables of all trees, spread over devices as a device function says of as many empty variables."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any,
        training: bool = True,
        tree_variables_class: Any = TreeVariables,
        tree_configs: Any = None,
        tree_stats: Any = None,
    ) -> None:
        with tf.device(device_assigner):
            self.device_dummies = [tf.get_variable(name=f"device_dummy_{i}", shape=0) for i in range(params.num_trees)]
        self.variables = []
        for i, dummy in enumerate(self.device_dummies):
            given = {"tree_config": tree_configs, "tree_stat": tree_stats}
            own = {name: values[i] for name, values in given.items() if values is not None}
            with tf.device(dummy.device):
                self.variables.append(tree_variables_class(params, i, training, **own))

    def __setitem__(self, t: int, val: Any) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> Any:
        return self.variables[t]


def _sparse_parts(features: Any) -> list[Any]:
    return [[], [], []] if features is None else [features.indices, features.values, features.dense_shape]


@public(BELOW + "RandomTreeGraphs")
class RandomTreeGraphs:
    """The graphs of one tree."""

    def __init__(self, variables: Any, params: Any, tree_num: int) -> None:
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    def training_graph(
        self, input_data: Any, input_labels: Any, random_seed: int, data_spec: Any, sparse_features: Any = None, input_weights: Any = None
    ) -> Any:
        """An op that adds a batch to the tree, and splits the leaves that are ready."""
        tf.cast(get_epoch_variable(), tf.int32)
        weights = [] if input_weights is None else input_weights
        data = [[] if input_data is None else input_data, *_sparse_parts(sparse_features)]
        settings = {"params": self.params.serialized_params_proto}
        spec = data_spec.SerializeToString()
        leaves = apply("TraverseTreeV4", self.variables.tree, *data, input_spec=spec, **settings)
        update = apply("UpdateModelV4", self.variables.tree, leaves, input_labels, weights, **settings)
        finished = apply(
            "ProcessInputV4",
            self.variables.tree,
            self.variables.stats,
            *data,
            input_labels,
            weights,
            leaves,
            input_spec=spec,
            random_seed=random_seed,
            **settings,
        )
        with tf.control_dependencies([update]):
            return apply("GrowTreeV4", self.variables.tree, self.variables.stats, finished, **settings)

    def inference_graph(self, input_data: Any, data_spec: Any, sparse_features: Any = None) -> Any:
        """(What the tree says of each example, the paths through it as messages)."""
        data = [[] if input_data is None else input_data, *_sparse_parts(sparse_features)]
        params = self.params.serialized_params_proto
        return apply("TreePredictionsV4", self.variables.tree, *data, input_spec=data_spec.SerializeToString(), params=params)

    def size(self) -> Any:
        """How many nodes the tree has."""
        return apply("TreeSize", self.variables.tree)

    def feature_usage_counts(self) -> Any:
        """How many nodes look at each feature."""
        return apply("FeatureUsageCounts", self.variables.tree, params=self.params.serialized_params_proto)


@public(BELOW + "RandomForestGraphs")
class RandomForestGraphs:
    """The graphs of a forest."""

    def __init__(
        self,
        params: Any,
        tree_configs: Any = None,
        tree_stats: Any = None,
        device_assigner: Any = None,
        variables: Any = None,
        tree_variables_class: Any = TreeVariables,
        tree_graphs: Any = None,
        training: bool = True,
    ) -> None:
        for said in ("Constructing forest with params = ", vars(params)):
            logging.info(said)
        self.params, self.device_assigner = params, device_assigner or VariableDeviceChooser()
        if not variables:
            given = {"tree_configs": tree_configs, "tree_stats": tree_stats}
            how = {"training": training, "tree_variables_class": tree_variables_class}
            variables = ForestVariables(params, device_assigner=self.device_assigner, **how, **given)
        self.variables = variables
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(variables[i], params, i) for i in range(params.num_trees)]

    def _on_device_of(self, tree_num: int) -> Any:
        return tf.device(self.variables.device_dummies[tree_num].device)

    def _bag_features(self, tree_num: int, input_data: Any) -> Any:
        columns = tf.split(value=input_data, num_or_size_splits=self.params.num_features, axis=1)
        return tf.concat([columns[i] for i in self.params.bagged_features[tree_num]], 1)

    def _bagged_features(self, tree_num: int, dense: Any, sparse: Any, spec: Any) -> tuple[Any, Any]:
        """(The columns that a tree may look at, their description)."""
        if not self.params.bagged_features:
            return dense, spec
        if sparse is not None:
            raise NotImplementedError("Feature bagging not supported with sparse features.")
        bagged = self._bag_features(tree_num, dense)
        return bagged, parse_data(bagged)[2]

    def get_all_resource_handles(self) -> list[Any]:
        """The handles of trees, then those of statistics."""
        variables = [self.variables[i] for i in range(len(self.trees))]
        return [own.tree for own in variables] + [own.stats for own in variables]

    def training_graph(self, input_data: Any, input_labels: Any, num_trainers: int = 1, trainer_id: int = 0, **tree_kwargs: Any) -> Any:
        """An op that grows the trees of this trainer by a batch."""
        dense, sparse, spec = parse_data(input_data)
        labels = None if input_labels is None else parse_labels(input_labels)
        share = self.params.num_trees / num_trainers
        grown = []
        for i in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with self._on_device_of(i):
                seed = self.params.base_random_seed
                seed += i if seed else 0
                data, own_labels = dense, labels
                if self.params.bagging_fraction < 1.0:
                    if sparse is not None:
                        raise NotImplementedError("Bagging not supported with sparse features.")
                    drawn = tf.random_uniform(tf.strided_slice(tf.shape(dense), [0], [1]), seed=seed)
                    mask = tf.less(drawn, tf.ones_like(drawn) * self.params.bagging_fraction)
                    chosen = tf.squeeze(tf.where_v2(mask), axis=[1])
                    data, own_labels = tf.gather(dense, chosen), tf.gather(labels, chosen)
                data, own = self._bagged_features(i, data, sparse, spec)
                grown.append(self.trees[i].training_graph(data, own_labels, seed, data_spec=own, sparse_features=sparse, **tree_kwargs))
        return tf.group(*grown, name="train")

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple[Any, Any, Any]:
        """(The mean of what trees say, paths through them, the variance between them)."""
        dense, sparse, spec = parse_data(input_data)
        found = []
        for i in range(self.params.num_trees):
            with self._on_device_of(i):
                data, own = self._bagged_features(i, dense, sparse, spec)
                found.append(self.trees[i].inference_graph(data, own, sparse_features=sparse, **inference_args))
        with self._on_device_of(0):
            count = self.params.num_trees
            said = tf.stack([prediction for prediction, _ in found], axis=1)
            mean = tf.div(tf.reduce_sum(said, 1), count, name="probabilities")
            paths = tf.stack([path for _, path in found], axis=1)
            squares = tf.div(tf.reduce_sum(said * said, 1), count)
            return mean, paths, tf.maximum(0.0, squares - mean * mean)

    def average_size(self) -> Any:
        """How many nodes a tree has, on average."""

        def size(i: int, tree: Any) -> Any:
            with self._on_device_of(i):
                return tree.size()

        return tf.reduce_mean(tf.cast(tf.stack([size(*numbered) for numbered in enumerate(self.trees)]), tf.float32))

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Any:
        """Minus the average size: it falls while the forest grows."""
        return tf.negative(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Any:
        """The same."""
        return tf.negative(self.average_size())

    def average_impurity(self) -> Any:
        """The mean of what graphs of trees call their impurity; those of random trees have none."""
        impurities = []
        for i in range(self.params.num_trees):
            with self._on_device_of(i):
                tree: Any = self.trees[i]
                impurities.append(tree.average_impurity())
        return tf.reduce_mean(tf.stack(impurities))

    def feature_importances(self) -> Any:
        """Each feature's share of the nodes."""
        counts = [tree.feature_usage_counts() for tree in self.trees]
        total = tf.reduce_sum(tf.stack(counts, 0), 0)
        return total / tf.reduce_sum(total)
