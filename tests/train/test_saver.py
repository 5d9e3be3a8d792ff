"""tf.train.Saver: checkpoints of graphs."""

import os
import tempfile
import threading

import numpy as np
import pytest

import everflow as tf
from everflow.values.resources import Storage


def two_variables():
    a = tf.get_variable("a", initializer=[1.0, 2.0])
    b = tf.get_variable("b", initializer=3, use_resource=True)
    return a, b


def test_values_come_back(tmp_path):
    a, b = two_variables()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"), global_step=7)
        sess.run([a.assign([0, 0]), b.assign(0)])
        saver.restore(sess, path)
        assert sess.run(a).tolist() == [1, 2] and sess.run(b) == 3
    assert path == str(tmp_path / "m-7") == tf.train.latest_checkpoint(str(tmp_path))
    assert tf.train.list_variables(path) == [("a", [2]), ("b", [])]
    assert tf.train.load_variable(str(tmp_path), "a").tolist() == [1, 2]


def test_the_ops_have_the_names_that_programs_know():
    two_variables()
    definition = tf.train.Saver().as_saver_def()
    assert (definition.filename_tensor_name, definition.save_tensor_name, definition.restore_op_name) == (
        "save/Const:0",
        "save/control_dependency:0",
        "save/restore_all",
    )
    kinds = {op.name: op.type for op in tf.get_default_graph().get_operations() if op.name.startswith("save/")}
    assert kinds["save/SaveV2"] == "SaveV2" and kinds["save/Assign"] == "Assign" and kinds["save/AssignVariableOp"] == "AssignVariableOp"


def test_parts_are_saved_as_one_and_restored_as_others(tmp_path):
    value = np.arange(12, dtype=np.float32).reshape(6, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", [6, 2], partitioner=tf.fixed_size_partitioner(3))
        sess.run(w.assign(value))
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    assert (tf.train.load_variable(path, "w") == value).all()
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", [6, 2], partitioner=tf.fixed_size_partitioner(2))
        tf.train.Saver().restore(sess, path)
        assert (sess.run(tf.convert_to_tensor(w)) == value).all()


@pytest.mark.parametrize("version", [tf.train.SaverDef.V1, tf.train.SaverDef.V2])
def test_shards_are_one_checkpoint(tmp_path, version):
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", initializer=1.0)
    with tf.device("/cpu:1"):
        b = tf.get_variable("b", initializer=2.0)
    saver = tf.train.Saver(sharded=True, write_version=version)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
        sess.run([a.assign(0), b.assign(0)])
        saver.restore(sess, path)
        assert sess.run([a, b]) == [1, 2]
    assert not [n for n in os.listdir(tmp_path) if "temp" in n]


def test_old_checkpoints_go(tmp_path):
    two_variables()
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(4):
            saver.save(sess, str(tmp_path / "m"), global_step=step)
    kept = {n for n in os.listdir(tmp_path) if n.endswith(".index")}
    assert kept == {"m-2.index", "m-3.index"}
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["m-2", "m-3"]


def test_what_can_not_be_restored_says_why(tmp_path):
    two_variables()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("other", initializer=1.0)
        with pytest.raises(tf.errors.NotFoundError, match="Key other not found in checkpoint"):
            tf.train.Saver().restore(sess, path)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("a", initializer=[1.0, 2.0, 3.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch between the current graph and the graph"):
            tf.train.Saver().restore(sess, path)
    with tf.Session() as sess, pytest.raises(ValueError, match="not a valid checkpoint"):
        tf.train.Saver().restore(sess, str(tmp_path / "nothing"))


def test_names_are_given_once():
    a, _ = two_variables()
    with pytest.raises(ValueError, match="same name"):
        tf.train.Saver([a, a])
    with pytest.raises(ValueError, match="two names"):
        tf.train.Saver({"x": a, "y": a})
    with pytest.raises(TypeError, match="Not a variable"):
        tf.train.Saver({"x": tf.constant(1.0)})


def test_initial_values_from_a_checkpoint(tmp_path):
    two_variables()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("new"):
            a = tf.get_variable("a", [2])
        tf.train.init_from_checkpoint(path, {"/": "new/"})
        sess.run(tf.global_variables_initializer())
        assert sess.run(a).tolist() == [1, 2]
    with tf.Graph().as_default():
        tf.get_variable("a", [3])
        with pytest.raises(ValueError, match="doesn't match with shape"):
            tf.train.init_from_checkpoint(path, {"a": "a"})


def test_warm_starts_by_word(tmp_path):
    (tmp_path / "old").write_text("x\ny\n")
    (tmp_path / "new").write_text("y\nz\nx\n")
    with tf.Session() as sess:
        tf.get_variable("e", initializer=[[1.0, 1.0], [2.0, 2.0]])
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        e = tf.get_variable("e", [3, 2])
        tf.train.warm_start(path, var_name_to_vocab_info={"e": tf.train.VocabInfo(str(tmp_path / "new"), 3, 0, str(tmp_path / "old"))})
        sess.run(tf.global_variables_initializer())
        assert sess.run(e).tolist() == [[2, 2], [0, 0], [1, 1]]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_take_restored_values_over_without_a_copy(tmp_path, use_resource, monkeypatch):
    v = tf.get_variable("v", initializer=np.arange(3.0), use_resource=use_resource)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        sess.run(v.assign([0.0, 0.0, 0.0]))
        with monkeypatch.context() as patched:
            patched.setattr(Storage, "store", lambda *_: pytest.fail("the value was copied"))
            saver.restore(sess, path)
        kept = sess.run(v)
        sess.run(v.assign_add([1.0, 1.0, 1.0]))
        assert kept.tolist() == [0, 1, 2] and sess.run(v).tolist() == [1, 2, 3]
        saver.restore(sess, path)
        assert sess.run(v).tolist() == [0, 1, 2]


def test_what_two_variables_restore_is_not_shared():
    a, b = (tf.get_variable(n, initializer=[1.0, 2.0]) for n in "ab")
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver({"x": a}).save(sess, folder + "/m")
        value = tf.raw_ops.RestoreV2(prefix=path, tensor_names=["x"], shape_and_slices=[""], dtypes=[tf.float32])[0]
        sess.run([tf.assign(a, value, validate_shape=False), tf.assign(b, value, validate_shape=False)])
        sess.run(a.assign_add([1.0, 1.0]))
        assert sess.run([a, b])[1].tolist() == [1, 2]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell how much memory is used")
def test_saving_needs_little_memory_besides_the_variables(tmp_path):
    size = 96 << 20
    for i in range(4):
        tf.get_variable(f"v{i}", [size // 16], tf.float32, tf.zeros_initializer(), use_resource=i % 2 == 0)
    saver = tf.train.Saver()
    used, done = [], threading.Event()

    def watch():
        while not done.wait(0.001):
            with open("/proc/self/statm") as statm:
                used.append(int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE"))

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, str(tmp_path / "warm"))
        watcher = threading.Thread(target=watch)
        watcher.start()
        saver.save(sess, str(tmp_path / "m"))
        done.set()
        watcher.join()
    assert len(used) > 5 and max(used) - used[0] < 0.25 * size


def test_scopes_are_mapped_up_to_their_last_slash(tmp_path):
    with tf.Session() as sess, tf.variable_scope("s"):
        tf.get_variable("a", initializer=[1.0, 2.0])
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("t"):
            a = tf.get_variable("a", [2], initializer=tf.zeros_initializer())
        tf.train.init_from_checkpoint(path, {"s/a": []})
        with pytest.raises(ValueError, match=r"Tensor s//a \(/a in s/\) is not found"):
            tf.train.init_from_checkpoint(path, {"s/": "t"})
        with pytest.raises(ValueError, match="scope only name t should map to scope only s/a. Should be"):
            tf.train.init_from_checkpoint(path, {"s/a": "t/"})
        sess.run(a.initializer)
        assert sess.run(a).tolist() == [0, 0]
        tf.train.init_from_checkpoint(path, {"s/": "t/anything"})
        sess.run(a.initializer)
        assert sess.run(a).tolist() == [1, 2]


def test_types_are_named_as_the_runtime_names_them(tmp_path):
    tf.get_variable("a", initializer=[1.0, 2.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype half does not equal original dtype float\n"):
            sess.run(tf.raw_ops.RestoreV2(prefix=path, tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float16]))


def test_one_folder_is_made_but_none_above_it(tmp_path):
    tf.get_variable("a", initializer=[1.0, 2.0])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert tf.train.checkpoint_exists(saver.save(sess, str(tmp_path / "one" / "m")))
        with pytest.raises(ValueError, match="Parent directory of .*/m doesn't exist, can't save."):
            saver.save(sess, str(tmp_path / "no" / "two" / "m"))


def test_checkpoints_of_missing_folders_are_errors(tmp_path):
    missing = str(tmp_path / "missing" / "m")
    for ask in (tf.train.checkpoint_exists, tf.train.remove_checkpoint, tf.gfile.Glob, lambda path: tf.train.get_checkpoint_mtimes([path])):
        with pytest.raises(tf.errors.NotFoundError, match="missing; No such file or directory"):
            ask(missing)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to get matching files on .*: Not found: .*missing; No such file"):
        tf.train.load_variable(missing, "x")
    tf.train.update_checkpoint_state(str(tmp_path), missing)
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        tf.train.latest_checkpoint(str(tmp_path))


def test_vocabularies_are_of_rows_or_columns():
    assert tf.train.VocabInfo("new", 3, 0, "old", axis=1).axis == 1
    with pytest.raises(ValueError, match="The only supported values for the axis argument are 0 and 1.  Provided axis: 2"):
        tf.train.VocabInfo("new", 3, 0, "old", axis=2)


def test_threads_may_save_by_the_same_name(tmp_path):
    variable = tf.get_variable("v", initializer=np.arange(5.0))
    saver = tf.train.Saver()
    failures = []

    def save_often(session):
        try:
            for _ in range(25):
                saver.save(session, str(tmp_path / "model"), write_meta_graph=False)
        except tf.errors.OpError as error:
            failures.append(error)

    with tf.Session() as session:
        session.run(variable.initializer)
        threads = [threading.Thread(target=save_often, args=(session,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        saver.restore(session, str(tmp_path / "model"))
    assert [p.name for p in sorted(tmp_path.glob("model.*"))] == ["model.data-00000-of-00001", "model.index"]


def test_parts_are_saved_under_the_name_that_they_are_given(tmp_path, session):
    parts = tf.get_variable("a/w", [6, 2], partitioner=tf.fixed_size_partitioner(3))
    whole = tf.get_variable("b/w", [6, 2], initializer=tf.zeros_initializer())
    session.run(tf.global_variables_initializer())
    path = tf.train.Saver({"w": list(parts)}).save(session, str(tmp_path / "model"))
    assert tf.train.list_variables(path) == [("w", [6, 2])]
    tf.train.Saver({"w": whole}).restore(session, path)
    assert session.run(whole).tolist() == session.run(parts.as_tensor()).tolist()
