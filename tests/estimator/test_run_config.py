"""RunConfig, and what TF_CONFIG says."""

from __future__ import annotations

import json

import pytest

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
