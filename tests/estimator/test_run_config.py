"""RunConfig, and what TF_CONFIG says."""

from __future__ import annotations

import json

import pytest
from google.protobuf import json_format

import everflow as tf

CLUSTER = {"chief": ["h0:1"], "worker": ["h1:1", "h2:1"], "ps": ["h3:1"]}


def config(monkeypatch, **text):
    monkeypatch.setenv("TF_CONFIG", json.dumps(text))
    return tf.estimator.RunConfig()


def test_alone_a_process_is_worker_and_chief(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    found = tf.estimator.RunConfig()
    assert (found.task_type, found.task_id, found.is_chief, found.master, found.num_worker_replicas) == ("worker", 0, True, "", 1)
    assert (found.save_checkpoints_secs, found.save_checkpoints_steps, found.keep_checkpoint_max) == (600, None, 5)


@pytest.mark.parametrize(
    ("kind", "index", "chief", "master", "number"),
    [("chief", 0, True, "grpc://h0:1", 0), ("worker", 1, False, "grpc://h2:1", 2), ("ps", 0, False, "grpc://h3:1", 3)],
)
def test_tasks_of_a_cluster_know_their_place(monkeypatch, kind, index, chief, master, number):
    found = config(monkeypatch, cluster=CLUSTER, task={"type": kind, "index": index})
    assert (found.is_chief, found.master, found.global_id_in_cluster) == (chief, master, number)
    assert (found.num_ps_replicas, found.num_worker_replicas) == (1, 3)


def test_evaluators_stand_outside(monkeypatch):
    found = config(monkeypatch, cluster=CLUSTER, task={"type": "evaluator", "index": 0})
    assert (found.is_chief, found.master, found.num_worker_replicas, found.cluster_spec.as_dict()) == (False, "", 0, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}, 'it must have one "chief" node'),
        ({"cluster": CLUSTER}, "task type must be set"),
        ({"cluster": CLUSTER, "task": {"type": "worker", "index": 5}}, "5 is not a valid task_id"),
        ({"task": {"type": "ps", "index": 0}}, "task type must be WORKER"),
    ],
)
def test_clusters_that_can_not_be_are_errors(monkeypatch, text, message):
    with pytest.raises(ValueError, match=message):
        config(monkeypatch, **text)


def test_replacing_one_way_to_save_drops_the_other():
    found = tf.estimator.RunConfig(save_checkpoints_steps=5).replace(save_checkpoints_secs=7)
    assert (found.save_checkpoints_steps, found.save_checkpoints_secs) == (None, 7)
    with pytest.raises(ValueError, match="Replacing master is not supported"):
        found.replace(master="x")


GIVEN = {
    "model_dir": "folder",
    "tf_random_seed": 3,
    "save_summary_steps": 7,
    "save_checkpoints_steps": 8,
    "save_checkpoints_secs": 9,
    "session_config": tf.ConfigProto(log_device_placement=True),
    "keep_checkpoint_max": 4,
    "keep_checkpoint_every_n_hours": 2,
    "log_step_count_steps": 6,
    "train_distribute": "a",
    "device_fn": lambda op: "/cpu:0",
    "protocol": "grpc+verbs",
    "eval_distribute": "b",
    "experimental_max_worker_delay_secs": 5,
    "session_creation_timeout_secs": 11,
}


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_what_is_given_is_a_property_and_can_be_replaced(name):
    plain = tf.estimator.RunConfig()
    assert getattr(plain, name) != GIVEN[name]
    assert getattr(tf.estimator.RunConfig(**{name: GIVEN[name]}), name) == GIVEN[name]
    replaced = plain.replace(**{name: GIVEN[name]})
    assert getattr(replaced, name) == GIVEN[name]
    assert getattr(plain, name) != GIVEN[name]


def test_what_a_config_holds():
    defaults = {
        "_cluster_spec": "ClusterSpec({})",
        "_device_fn": None,
        "_eval_distribute": None,
        "_evaluation_master": "",
        "_experimental_distribute": None,
        "_experimental_max_worker_delay_secs": None,
        "_global_id_in_cluster": 0,
        "_is_chief": True,
        "_keep_checkpoint_every_n_hours": 10000,
        "_keep_checkpoint_max": 5,
        "_log_step_count_steps": 100,
        "_master": "",
        "_model_dir": None,
        "_num_ps_replicas": 0,
        "_num_worker_replicas": 1,
        "_protocol": None,
        "_save_checkpoints_secs": 600,
        "_save_checkpoints_steps": None,
        "_save_summary_steps": 100,
        "_service": None,
        "_session_config": None,
        "_session_creation_timeout_secs": 7200,
        "_task_id": 0,
        "_task_type": "worker",
        "_tf_random_seed": None,
        "_train_distribute": None,
    }
    found = {k: v for k, v in vars(tf.estimator.RunConfig()).items() if k in defaults}
    assert {**found, "_cluster_spec": str(found["_cluster_spec"])} == {**defaults, "_session_config": found["_session_config"]}
    assert tf.estimator.RunConfig().replace(experimental_distribute=None).model_dir is None


def test_sessions_of_estimators_place_softly_and_rewrite_once(tmp_path):
    expected = {"allow_soft_placement": True, "graph_options": {"rewrite_options": {"meta_optimizer_iterations": "ONE"}}}
    estimator = tf.estimator.Estimator(lambda features: None, str(tmp_path))
    assert estimator.config.session_config == json_format.ParseDict(expected, tf.ConfigProto())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"save_summary_steps": -1}, "save_summary_steps should be >= 0"),
        ({"save_checkpoints_steps": -1}, "save_checkpoints_steps should be >= 0"),
        ({"save_checkpoints_secs": -1}, "save_checkpoints_secs should be >= 0"),
        ({"keep_checkpoint_max": -1}, "keep_checkpoint_max should be >= 0"),
        ({"keep_checkpoint_every_n_hours": 0}, "keep_checkpoint_every_n_hours should be > 0"),
        ({"log_step_count_steps": 0}, "log_step_count_steps should be > 0"),
        ({"session_creation_timeout_secs": 0}, "session_creation_timeout_secs should be > 0"),
        ({"session_config": {}}, "session_config must be instance of ConfigProto"),
        ({"tf_random_seed": 1.0}, "tf_random_seed must be integer"),
        ({"experimental_max_worker_delay_secs": "5"}, "experimental_max_worker_delay_secs must be an integer if set"),
        ({"device_fn": "/cpu:0"}, "device_fn must be callable with exactly one argument"),
        ({"device_fn": lambda x: ""}, "device_fn must be callable with exactly one argument"),
        ({"device_fn": lambda op, x: ""}, "device_fn must be callable with exactly one argument"),
        ({"model_dir": ""}, "model_dir should be non-empty"),
        ({"save_checkpoints_steps": 1, "save_checkpoints_secs": 1}, "cannot be both set"),
    ],
)
def test_values_that_make_no_sense_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        tf.estimator.RunConfig(**given)
    with pytest.raises(ValueError, match=message):
        tf.estimator.RunConfig().replace(**given)


def test_the_least_values_that_are_taken():
    found = tf.estimator.RunConfig(
        save_summary_steps=0,
        save_checkpoints_steps=0,
        keep_checkpoint_max=0,
        keep_checkpoint_every_n_hours=1,
        log_step_count_steps=1,
        session_creation_timeout_secs=1,
    )
    assert (found.save_summary_steps, found.save_checkpoints_steps, found.keep_checkpoint_max) == (0, 0, 0)
    assert (found.keep_checkpoint_every_n_hours, found.log_step_count_steps, found.session_creation_timeout_secs) == (1, 1, 1)
    assert tf.estimator.RunConfig(save_checkpoints_secs=0).save_checkpoints_secs == 0
    nothing = tf.estimator.RunConfig(
        save_summary_steps=None,
        save_checkpoints_steps=None,
        save_checkpoints_secs=None,
        keep_checkpoint_max=None,
        log_step_count_steps=None,
    )
    assert (nothing.save_summary_steps, nothing.save_checkpoints_steps, nothing.save_checkpoints_secs) == (None, None, None)
    assert (nothing.keep_checkpoint_max, nothing.log_step_count_steps) == (None, None)


JOBS = {"chief": ["h0:1"], "ps": ["h1:1", "h2:1"], "worker": ["h3:1", "h4:1"], "aide": ["h5:1", "h6:1"]}
OF_MASTER = {"master": ["h0:1"], "ps": ["h1:1"], "worker": ["h2:1"]}


@pytest.mark.parametrize(
    ("jobs", "kind", "index", "number", "chief", "filters"),
    [
        (JOBS, "chief", 0, 0, True, ["/job:ps", "/job:chief"]),
        (JOBS, "aide", 1, 2, False, []),
        (JOBS, "worker", 0, 3, False, ["/job:ps", "/job:worker/task:0"]),
        (JOBS, "worker", 1, 4, False, ["/job:ps", "/job:worker/task:1"]),
        (JOBS, "ps", 1, 6, False, ["/job:ps", "/job:worker", "/job:chief", "/job:master"]),
        (OF_MASTER, "master", 0, 0, True, ["/job:ps", "/job:master"]),
        (OF_MASTER, "worker", 0, 1, False, ["/job:ps", "/job:worker/task:0"]),
        (OF_MASTER, "ps", 0, 2, False, ["/job:ps", "/job:worker", "/job:chief", "/job:master"]),
        ({"chief": ["h0:1"], "worker": ["h1:1"]}, "worker", 0, 1, False, ["/job:ps", "/job:worker/task:0"]),
    ],
)
def test_a_task_is_numbered_and_sees_servers_and_itself(monkeypatch, jobs, kind, index, number, chief, filters):
    found = config(monkeypatch, cluster=jobs, task={"type": kind, "index": index})
    assert (found.global_id_in_cluster, found.is_chief, found.task_id, found.task_type) == (number, chief, index, kind)
    assert list(found.session_config.device_filters if found.session_config else ()) == filters
    assert found.cluster_spec.as_dict() == jobs
    assert (found.num_ps_replicas, found.num_worker_replicas) == (len(jobs.get("ps", ())), len(jobs["worker"]) + 1)


@pytest.mark.parametrize(
    ("text", "master", "evaluation_master"),
    [
        ({"cluster": CLUSTER, "task": {"type": "worker", "index": 1}}, "grpc://h2:1", ""),
        ({"cluster": {"chief": ["h0:1"]}, "task": {"type": "chief", "index": 0}}, "", ""),
        ({"cluster": {"chief": ["h0:1"], "ps": ["h1:1"]}, "task": {"type": "chief", "index": 0}}, "grpc://h0:1", ""),
        ({"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}}, "", ""),
        ({"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}, "eval_session_master": "e:1"}, "", "e:1"),
        ({"session_master": "m:1", "eval_session_master": "e:1"}, "m:1", "e:1"),
        ({"cluster": CLUSTER, "task": {"type": "chief", "index": 0}, "session_master": "m:1"}, "m:1", ""),
    ],
)
def test_the_address_of_the_master(monkeypatch, text, master, evaluation_master):
    found = config(monkeypatch, **text)
    assert (found.master, found.evaluation_master) == (master, evaluation_master)


def task(kind, index=0, **jobs):
    return {"cluster": jobs or CLUSTER, "task": {"type": kind, "index": index}}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ({"service": 3}, TypeError, 'If "service" is set in TF_CONFIG, it must be a dict'),
        (task("chief", chief=["a:1", "b:1"]), ValueError, 'must have only one "chief" node'),
        (task("master", master=["a:1", "b:1"]), ValueError, 'must have only one "master" node'),
        (task("chief", chief=["a:1"], master=["b:1"]), ValueError, "If `master` node exists in `cluster`, job `chief` is not supported"),
        (task("evaluator", master=["b:1"]), ValueError, "If `master` node exists in `cluster`, task_type `evaluator` is not supported"),
        ({"cluster": CLUSTER, "task": {"type": "worker"}}, ValueError, "task index must be set"),
        ({"cluster": CLUSTER, "task": {"index": 0}}, ValueError, "task type must be set"),
        (task("worker", -1), ValueError, "Task index must be non-negative number"),
        (task("evaluator", -1), ValueError, "Task index must be non-negative number"),
        (task("worker", 2), ValueError, "2 is not a valid task_id for task_type worker"),
        (task("aide"), ValueError, "aide is not a valid task_type"),
        ({"task": {"type": "worker", "index": 1}}, ValueError, "task index must be 0"),
        ({"task": {"type": "chief", "index": 0}}, ValueError, "task type must be WORKER"),
        ({"model_dir": ""}, ValueError, "model_dir in TF_CONFIG should be non-empty"),
    ],
)
def test_what_tf_config_can_not_say(monkeypatch, text, error, message):
    with pytest.raises(error, match=message):
        config(monkeypatch, **text)


def test_evaluators_have_no_number_and_no_peers(monkeypatch):
    found = config(monkeypatch, **task("evaluator", 3))
    assert (found.task_type, found.task_id, found.global_id_in_cluster, found.is_chief) == ("evaluator", 3, None, False)
    assert (found.num_ps_replicas, found.num_worker_replicas, found.cluster_spec.as_dict()) == (0, 0, {})


def test_the_folder_of_tf_config_and_of_the_program_agree(monkeypatch, tmp_path):
    assert config(monkeypatch, model_dir="d").model_dir == "d"
    with pytest.raises(ValueError, match="must have the same value as the model_dir in TF_CONFIG"):
        monkeypatch.setenv("TF_CONFIG", json.dumps({"model_dir": "d"}))
        tf.estimator.RunConfig(model_dir="e")
    assert tf.estimator.RunConfig(model_dir="d").model_dir == "d"


def test_replacing_both_ways_to_save():
    found = tf.estimator.RunConfig()
    with pytest.raises(ValueError, match="cannot be both set"):
        found.replace(save_checkpoints_secs=1, save_checkpoints_steps=2)
    other = found.replace(save_checkpoints_secs=None, save_checkpoints_steps=2)
    assert (other.save_checkpoints_secs, other.save_checkpoints_steps) == (None, 2)
    other = found.replace(save_checkpoints_secs=3, save_checkpoints_steps=None)
    assert (other.save_checkpoints_secs, other.save_checkpoints_steps) == (3, None)
    other = found.replace(tf_random_seed=1)
    assert (other.save_checkpoints_secs, other.save_checkpoints_steps) == (600, None)
