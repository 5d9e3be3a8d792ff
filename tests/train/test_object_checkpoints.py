"""tf.train.Checkpoint: objects by the attributes that lead to them."""

import pytest

import everflow as tf
from everflow.eager.context import eager_mode, graph_mode
from everflow.graph.trackable import Trackable
from everflow.train.tracking.autotracking import AutoTrackable
from everflow.train.tracking.checkpoint import TrackableSaver
from everflow.train.tracking.graph_view import ObjectGraphView


def variable(value):
    return tf.Variable(value, use_resource=True)


def test_attributes_lists_and_dicts_are_dependencies():
    with tf.Graph().as_default():
        root = AutoTrackable()
        root.v, root.l, root.d = variable(1.0), [variable(2.0)], {"k": variable(3.0), "n": 4}
        assert [r.name for r in root._checkpoint_dependencies] == ["v", "l", "d"]
        assert [r.name for r in root.l._checkpoint_dependencies] == ["0"]
        assert isinstance(root.d, dict) and root.d == {"k": root.d["k"], "n": 4}
        root.l[0] = variable(0.0)
        with pytest.raises(ValueError, match="was replaced"):
            root.l._checkpoint_dependencies  # noqa: B018
        del root.v
        assert [r.name for r in root._checkpoint_dependencies] == ["l", "d"]
        with pytest.raises(TypeError, match="not a Trackable"):
            Trackable()._track_trackable(3, "x")


def test_graphs_save_and_restore_by_path(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=variable(1.0), nested=[variable(2.0)])
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "c"))
        sess.run([checkpoint.v.assign(0.0), checkpoint.nested[0].assign(0.0)])
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        assert sess.run([checkpoint.v, checkpoint.nested[0]]) == [1, 2]
    assert path.endswith("c-1") and tf.train.latest_checkpoint(str(tmp_path)) == path
    assert ("nested/0/.ATTRIBUTES/VARIABLE_VALUE", []) in tf.train.list_variables(path)


def test_what_is_made_later_is_restored_then(tmp_path):
    with eager_mode():
        weights = tf.Variable([1.0, 2.0])
        optimizer = tf.train.AdamOptimizer(0.1)
        optimizer.minimize(lambda: tf.reduce_sum(weights * weights))
        path = tf.train.Checkpoint(w=weights, o=optimizer).save(str(tmp_path / "c"))
        optimizer.minimize(lambda: tf.reduce_sum(weights * weights))
        later = tf.train.Checkpoint()
        status = later.restore(path)
        later.w, later.o = tf.Variable([0.0, 0.0]), tf.train.AdamOptimizer(0.1)
        later.o.minimize(lambda: tf.reduce_sum(later.w * later.w))
        assert later.w.numpy().tolist() == weights.numpy().tolist()
        status.assert_consumed()


def test_mismatches_are_told(tmp_path):
    with eager_mode():
        path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).save(str(tmp_path / "c"))
        with pytest.raises(AssertionError, match="Unresolved object"):
            tf.train.Checkpoint(a=tf.Variable(0.0)).restore(path).assert_consumed()
        with pytest.raises(AssertionError, match="not bound to checkpointed values"):
            tf.train.Checkpoint(a=tf.Variable(0.0), c=tf.Variable(0.0)).restore(path).assert_existing_objects_matched()
        tf.train.Checkpoint(a=tf.Variable(0.0)).restore(path).expect_partial()
        with pytest.raises(ValueError, match="expecting a trackable object"):
            tf.train.Checkpoint(a=3)


def test_a_manager_keeps_the_youngest(tmp_path):
    with eager_mode():
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
        paths = [manager.save() for _ in range(3)]
        assert manager.checkpoints == paths[1:] and not tf.train.checkpoint_exists(paths[0])
        again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1)
        assert again.latest_checkpoint == paths[2]
        again.save()
        assert not tf.train.checkpoint_exists(paths[1])


def test_checkpoints_of_savers_restore_into_objects(tmp_path):
    with graph_mode(), tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=5.0, use_resource=True)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "named"))
        sess.run(v.assign(0.0))
        status = tf.train.Checkpoint(v=v).restore(path)
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.NotFoundError, match="Key save_counter not found in checkpoint"):
            status.run_restore_ops()


def test_functions_write_checkpoints(tmp_path):
    with eager_mode():
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        path = str(tmp_path / "c")
        write = tf.function(lambda: checkpoint.write(path))
        write()
        checkpoint.v.assign(3.0)
        write()
        checkpoint.v.assign(0.0)
        checkpoint.restore(path)
        assert checkpoint.v.numpy() == 3


def test_what_a_graph_writes_again_tells_the_names_of_variables(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.get_variable("of_a_graph", [], use_resource=True))
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            entries, proto, _ = checkpoint._saver._graph_view.serialize_object_graph()
            assert [attribute.full_name for node in proto.nodes for attribute in node.attributes][0] == "of_a_graph"
            assert entries[0].full_name == "of_a_graph"


def test_a_restore_by_names_is_known_once_it_ran(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        root = AutoTrackable()
        root.v = tf.get_variable("v", initializer=5.0, use_resource=True)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "named"))
        sess.run(root.v.assign(0.0))
        status = TrackableSaver(ObjectGraphView(root)).restore(path)
        with pytest.raises(AssertionError, match="not restored"):
            status.assert_consumed()
        status.run_restore_ops()
        status.assert_consumed().assert_nontrivial_match()
        assert sess.run(root.v) == 5


def test_a_graph_saves_what_it_restored(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.get_variable("v", initializer=1.0, use_resource=True))
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "c"))
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.get_variable("v", initializer=0.0, use_resource=True))
        checkpoint.restore(path).initialize_or_restore()
        again = checkpoint.save(str(tmp_path / "c"))
    assert tf.train.load_variable(again, "v/.ATTRIBUTES/VARIABLE_VALUE") == 1
