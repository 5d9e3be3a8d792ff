"""An iterator's position survives saving and restoring."""

import pytest

import everflow as tf

D = tf.data.Dataset

PIPELINES = {
    "shuffle": lambda: D.range(20).shuffle(5, seed=1).map(lambda x: x * 2).batch(3).repeat(2),
    "flat_map": lambda: D.range(6).flat_map(lambda x: D.range(x)),
    "interleave": lambda: D.range(6).interleave(lambda x: D.range(x, x + 3), cycle_length=2),
    "window": lambda: D.range(12).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3)).take(9),
    "scan": lambda: D.range(12).apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))),
    "strings": lambda: D.from_tensor_slices(["a", "b", "c", "d", "e", "f", "g"]).skip(1).prefetch(2),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_reading_goes_on_where_it_was(name, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = PIPELINES[name]().make_initializable_iterator()
        following = iterator.get_next()
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
        saver = tf.train.Saver(allow_empty=True)
        session.run(iterator.initializer)
        for _ in range(4):
            session.run(following)
        path = saver.save(session, str(tmp_path / "position"))
        wanted = [session.run(following).tolist() if name != "strings" else session.run(following) for _ in range(2)]
        session.run(iterator.initializer)
        saver.restore(session, path)
        found = [session.run(following).tolist() if name != "strings" else session.run(following) for _ in range(2)]
    assert found == wanted
