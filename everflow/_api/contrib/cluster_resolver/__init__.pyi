"""Written by `make index`."""
from typing import Any

from everflow.distribute.cluster_resolver.resolvers import ClusterResolver as ClusterResolver
from everflow.distribute.cluster_resolver.gce import GCEClusterResolver as GCEClusterResolver
from everflow.distribute.cluster_resolver.kubernetes import KubernetesClusterResolver as KubernetesClusterResolver
from everflow.distribute.cluster_resolver.resolvers import SimpleClusterResolver as SimpleClusterResolver
from everflow.distribute.cluster_resolver.slurm import SlurmClusterResolver as SlurmClusterResolver
from everflow.distribute.cluster_resolver.tf_config import TFConfigClusterResolver as TFConfigClusterResolver
from everflow.distribute.cluster_resolver.tpu import TPUClusterResolver as TPUClusterResolver
from everflow.distribute.cluster_resolver.resolvers import UnionClusterResolver as UnionClusterResolver
