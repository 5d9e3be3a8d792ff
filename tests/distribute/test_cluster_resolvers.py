"""tf.distribute.cluster_resolver: clusters as the systems that run them describe them."""

from __future__ import annotations

import json
import sys
import types

import pytest

import everflow as tf
from everflow.distribute.cluster_resolver import tpu

resolvers = tf.distribute.cluster_resolver
CLUSTER = {"ps": ["ps0:1"], "worker": ["w0:2", "w1:2"]}


def test_a_simple_resolver_tells_what_it_was_given():
    simple = resolvers.SimpleClusterResolver(tf.train.ClusterSpec(CLUSTER), master="m:1", task_type="ps", task_id=0, rpc_layer="grpc")
    assert simple.cluster_spec().as_dict() == CLUSTER and simple.num_accelerators() == {} and simple.environment == ""
    assert simple.master() == "grpc://m:1" and simple.master("worker", 1, "http") == "http://w1:2"
    simple.task_type, simple.task_id = "worker", 1
    assert (simple.task_type, simple.task_id) == ("worker", 1)
    with pytest.raises(TypeError, match="must be a ClusterSpec"):
        resolvers.SimpleClusterResolver(CLUSTER)


def test_a_union_joins_lists_and_numbered_tasks():
    make = lambda jobs: resolvers.SimpleClusterResolver(tf.train.ClusterSpec(jobs))
    union = resolvers.UnionResolver(make({"worker": ["a:1"]}), make({"worker": ["b:1"], "ps": ["c:1"]}))
    assert union.cluster_spec().as_dict() == {"worker": ["a:1", "b:1"], "ps": ["c:1"]}
    assert union.master("worker", 1, "grpc") == "grpc://b:1"
    with pytest.raises(KeyError, match="Duplicate keys"):
        resolvers.UnionResolver(make({"worker": {1: "a:1"}}), make({"worker": {1: "b:1", 3: "c:1"}})).cluster_spec()
    with pytest.raises(TypeError, match="sub-class of `ClusterResolver"):
        resolvers.UnionResolver(3)
    with pytest.raises(ValueError, match="At least one"):
        resolvers.UnionResolver()


def test_tf_config_is_read_when_asked(monkeypatch):
    found = resolvers.TFConfigClusterResolver()
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert found.master() == "" and found.task_type is None
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "rpc_layer": "grpc", "task": {"type": "worker", "index": "1"}}))
    assert (found.task_type, found.task_id, found.master()) == ("worker", 1, "grpc://w1:2")
    assert found.cluster_spec().as_dict() == CLUSTER
    assert resolvers.TFConfigClusterResolver("ps", 0, "http").master() == "http://ps0:1"


def test_slurm_tasks_are_given_to_jobs_in_order(monkeypatch):
    monkeypatch.setattr(resolvers.SlurmClusterResolver, "_resolve_hostnames", lambda self: ["n1", "n2", "n3"])
    for key, value in {"SLURM_PROCID": "3", "SLURM_NTASKS": "5", "CUDA_VISIBLE_DEVICES": ""}.items():
        monkeypatch.setenv(key, value)
    slurm = resolvers.SlurmClusterResolver({"ps": 1, "worker": 4}, tasks_per_node=2, gpus_per_node=4, gpus_per_task=2)
    assert slurm.cluster_spec().as_dict() == {"ps": ["n1:8888"], "worker": ["n1:8889", "n2:8888", "n2:8889", "n3:8888"]}
    assert slurm.get_task_info() == ("worker", 2) and slurm.master() == "grpc://n2:8889"
    assert __import__("os").environ["CUDA_VISIBLE_DEVICES"] == "2,3"
    with pytest.raises(RuntimeError, match="more GPUs per node"):
        resolvers.SlurmClusterResolver({"worker": 5}, tasks_per_node=2, gpus_per_node=1)
    with pytest.raises(RuntimeError, match="more tasks then assigned"):
        resolvers.SlurmClusterResolver({"worker": 6}, tasks_per_node=1)


def test_kubernetes_pods_must_run():
    def pod(name, phase, address):
        status = types.SimpleNamespace(phase=phase, host_ip=address)
        return types.SimpleNamespace(status=status, metadata=types.SimpleNamespace(name=name))

    pods = [pod("b", "Running", "10.0.0.2"), pod("a", "Running", "10.0.0.1")]
    client = types.SimpleNamespace(list_pod_for_all_namespaces=lambda label_selector: types.SimpleNamespace(items=pods))
    found = resolvers.KubernetesClusterResolver(override_client=client)
    assert found.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    assert found.master() == "" and found.master("worker", 1) == "grpc://10.0.0.2:8470"
    pods[0].status.phase = "Failed"
    with pytest.raises(RuntimeError, match='Pod "b" is not running; phase: "Failed"'):
        found.cluster_spec()


def test_machines_of_a_group_come_page_by_page():
    addresses = {"m1": "10.0.0.2", "m2": "10.0.0.1", "m3": "10.0.0.3"}
    pages = [["zone/m1", "zone/m2"], ["zone/m3"]]

    def page(number):
        items = [{"instance": name} for name in pages[number]]
        return types.SimpleNamespace(number=number, execute=lambda: {"items": items}) if number < len(pages) else None

    def machine(project, zone, instance):
        return types.SimpleNamespace(execute=lambda: {"networkInterfaces": [{"networkIP": addresses[instance]}]})

    groups = types.SimpleNamespace(
        listInstances=lambda **asked: page(0) if asked["instanceGroup"] == "group" else None,
        listInstances_next=lambda previous_request, previous_response: page(1) if previous_request.number == 0 else None,
    )
    service = types.SimpleNamespace(instanceGroups=lambda: groups, instances=lambda: types.SimpleNamespace(get=machine))
    found = resolvers.GCEClusterResolver("p", "z", "group", 8470, service=service)
    assert found.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]}
    assert found.master() == "grpc://10.0.0.1:8470" and found.master("worker", 2, "x") == "x://10.0.0.3:8470"
    with pytest.raises(RuntimeError, match="cannot reset the task_type"):
        found.task_type = "ps"


@pytest.mark.parametrize(
    "make, module, what",
    [
        (lambda: resolvers.KubernetesClusterResolver(), "kubernetes", "pip install kubernetes"),
        (lambda: resolvers.GCEClusterResolver("p", "z", "g", 8470), "googleapiclient", "googleapiclient and oauth2client must"),
        (lambda: resolvers.TPUClusterResolver("name", "z", "p"), "googleapiclient", "before using the TPU cluster resolver"),
    ],
)
def test_missing_clients_are_named(monkeypatch, make, module, what):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=what):
        make()


def test_tpus_are_found_by_address_name_or_variable(monkeypatch):
    assert resolvers.TPUClusterResolver("grpc://10.1.2.3:8470").master() == "grpc://10.1.2.3:8470"
    endpoints = {"networkEndpoints": [{"ipAddress": "10.2.3.4", "port": 8470}, {"ipAddress": "10.2.3.5", "port": 8470}]}
    nodes = types.SimpleNamespace(
        get=lambda name: types.SimpleNamespace(execute=lambda: {"projects/p/locations/z/nodes/t": endpoints}[name])
    )
    service = types.SimpleNamespace(projects=lambda: types.SimpleNamespace(locations=lambda: types.SimpleNamespace(nodes=lambda: nodes)))
    named = resolvers.TPUClusterResolver("t", "z", "p", credentials=None, service=service)
    assert named.cluster_spec().as_dict() == {"worker": ["10.2.3.4:8470", "10.2.3.5:8470"]}
    assert named.master() == named.get_master() == "grpc://10.2.3.4:8470" and named.master("worker", 1, "x") == "x://10.2.3.5:8470"
    endpoints["state"] = "CREATING"
    with pytest.raises(RuntimeError, match="not yet ready"):
        named.cluster_spec()
    with pytest.raises(ValueError, match="Could not lookup TPU metadata"):
        resolvers.TPUClusterResolver("other", "z", "p", credentials=None, service=service).cluster_spec()
    monkeypatch.setenv("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "grpc://10.0.0.5:8470,grpc://10.0.0.6:8470")
    assert resolvers.TPUClusterResolver().cluster_spec().as_dict() == {"worker": ["10.0.0.5:8470", "10.0.0.6:8470"]}
    monkeypatch.delenv("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS")
    monkeypatch.setattr(tpu, "is_running_in_gce", lambda: True)
    with pytest.raises(RuntimeError, match="Google Cloud"):
        resolvers.TPUClusterResolver("")


def test_accelerators_are_counted_by_task(monkeypatch):
    class Resolver(resolvers.ClusterResolver):
        def cluster_spec(self):
            return tf.train.ClusterSpec({})

        def master(self, task_type=None, task_id=None, rpc_layer=None):
            return ""

    names = ["/job:worker/task:0/device:GPU:0", "/job:worker/task:1/device:GPU:0", "/job:worker/task:1/device:CPU:0"]
    devices = [types.SimpleNamespace(name=name) for name in names]
    monkeypatch.setattr(tf.Session, "list_devices", lambda self: devices)
    assert Resolver().num_accelerators() == {"GPU": 2}
    assert Resolver().num_accelerators("worker", 1) == {"GPU": 1}
    assert Resolver().num_accelerators("ps") == {}
