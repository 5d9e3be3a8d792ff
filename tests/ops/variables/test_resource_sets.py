"""Resources beside variables are collected, created together, and named while they are missing."""

import everflow as tf
from everflow.ops.variables import resource_sets


def test_resources_are_created_and_reported():
    with tf.Graph().as_default(), tf.Session() as session:
        shared, local = (tf.Variable(1.0, use_resource=True, name=name) for name in ("shared", "local"))
        for v, is_shared in ((shared, True), (local, False)):
            resource_sets.register_resource(v.handle, v.initializer, v.is_initialized(), is_shared)
        missing = resource_sets.report_uninitialized_resources()
        assert session.run(missing).tolist() == [b"shared:0", b"local:0"]
        session.run(resource_sets.initialize_resources(resource_sets.shared_resources()))
        assert session.run(missing).tolist() == [b"local:0"]
        session.run(resource_sets.initialize_resources(resource_sets.local_resources()))
        assert session.run(missing).tolist() == []


def test_no_resources_need_nothing():
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(resource_sets.initialize_resources(resource_sets.shared_resources()))
        assert session.run(resource_sets.report_uninitialized_resources()).size == 0
