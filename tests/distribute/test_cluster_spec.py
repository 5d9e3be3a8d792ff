import pytest

import everflow as tf


def test_a_cluster_says_who_is_where():
    spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {0: "b:1", 3: "c:1"}})
    assert spec.as_dict() == {"ps": ["a:1"], "worker": {0: "b:1", 3: "c:1"}}
    assert spec.job_tasks("worker") == ["b:1", None, None, "c:1"]
    assert spec.task_address("worker", 3) == "c:1"
    assert tf.train.ClusterSpec(spec.as_cluster_def()) == spec
    assert str(spec) == "ClusterSpec({'ps': ['a:1'], 'worker': {0: 'b:1', 3: 'c:1'}})"


@pytest.mark.parametrize("cluster", [3, {3: ["a:1"]}, {"a": 3}, {"a": [3]}, {"a": {"x": "b:1"}}])
def test_what_is_no_cluster_is_refused(cluster):
    with pytest.raises(TypeError, match="must be|expected one of: int"):
        tf.train.ClusterSpec(cluster)


def test_jobs_and_tasks_that_are_not_there():
    spec = tf.train.ClusterSpec({"ps": ["a:1"]})
    with pytest.raises(ValueError, match="No such job in cluster: 'worker'"):
        spec.num_tasks("worker")
    with pytest.raises(ValueError, match="No task with index 1 in job 'ps'"):
        spec.task_address("ps", 1)


def test_variables_go_to_parameter_servers_in_turn():
    cluster = {"ps": ["a:1", "b:1"], "worker": ["c:1"]}
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:0")):
        first, second = tf.Variable(1.0), tf.get_variable("second", (), use_resource=True)
        total = first + second
    assert [first.device, second.device, total.device] == ["/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0"]


def test_without_parameter_servers_devices_stay():
    assert tf.train.replica_device_setter(cluster={"worker": ["c:1"]}) is None
