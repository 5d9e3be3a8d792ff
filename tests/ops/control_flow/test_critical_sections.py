import threading

import pytest

import everflow as tf


def adding(v, section):
    def fn():
        before = v.read_value()
        with tf.control_dependencies([before]), tf.control_dependencies([v.assign_add(2.0)]):
            return tf.identity(before)

    return section.execute(fn)


def test_executions_happen_one_after_the_other():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    section = tf.CriticalSection(shared_name="section")
    found = [adding(v, section) for _ in range(20)]
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sorted(sess.run(found)) == [2.0 * i for i in range(20)]


def test_threads_wait_for_each_other():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    found = adding(v, tf.CriticalSection())
    seen = []
    with tf.Session() as sess:
        sess.run(v.initializer)
        threads = [threading.Thread(target=lambda: seen.extend(sess.run(found) for _ in range(25))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(seen) == [2.0 * i for i in range(100)]


def test_an_error_gives_the_lock_back():
    section, ok = tf.CriticalSection(), tf.placeholder(tf.bool, [])

    def fn():
        with tf.control_dependencies([tf.Assert(ok, ["wrong"])]):
            return tf.constant(1)

    found = section.execute(fn)
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="wrong"):
                sess.run(found, {ok: False})
            assert sess.run(found, {ok: True}) == 1


def test_what_a_section_needs_is_computed_before_it_locks():
    section = tf.CriticalSection()
    first = section.execute(lambda: tf.constant(1.0) + 0.0)
    second = section.execute(lambda: tf.constant(1.0) + first)
    with tf.Session() as sess:
        assert sess.run(second) == 2


def test_results_keep_their_structure():
    x = tf.constant(2)
    found = tf.CriticalSection().execute(lambda: (x, {"a": x + 1}))
    with tf.Session() as sess:
        assert sess.run(found) == (2, {"a": 3})


def test_a_section_can_not_run_inside_itself():
    one, same = tf.CriticalSection(shared_name="s"), tf.CriticalSection(shared_name="s")
    with pytest.raises(ValueError, match="attempts to directly access the CriticalSection in which it would be running"):
        one.execute(lambda: same.execute(lambda: tf.constant(1)))


def test_sections_do_not_share_resources_unless_both_agree():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    one, other = tf.CriticalSection(), tf.CriticalSection()
    one.execute(lambda: v + 1)
    one.execute(lambda: v - 1)
    for exclusive in (True, False):
        with pytest.raises(ValueError, match="requested exclusive resource access"):
            other.execute(lambda: v + 1, exclusive_resource_access=exclusive)


def test_a_loop_may_use_a_section():
    section = tf.CriticalSection()
    _, last = tf.while_loop(lambda i, j: i < 10, lambda i, j: (i + 1, section.execute(lambda: j + 2)), [0, 0])
    with tf.Session() as sess:
        assert sess.run(last) == 20
