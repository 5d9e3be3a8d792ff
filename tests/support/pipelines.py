"""What tests of datasets share: reading them to their end, and what is known of them before."""

import re

import numpy as np
from plain import plain

import everflow as tf


def fed(value, dtype=tf.int64):
    """A tensor of which nothing is known before a run."""
    return tf.placeholder_with_default(np.array(value, dtype.as_numpy_dtype), None)


def file(name, content):
    """The name of a file that is written."""
    with open(name, "wb") as out:
        out.write(content)
    return name


def read(session, following, most=30):
    """The next elements; the names of errors stand for those that could not be computed."""
    found = []
    while len(found) < most:
        try:
            found.append(plain(session.run(following)))
        except tf.errors.OutOfRangeError:
            break
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


def elements(dataset, most=30):
    """The elements of a dataset."""
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as session:
        session.run([iterator.initializer, tf.tables_initializer()])
        return read(session, following, most)


def goes_on(dataset, expected):
    """Whether reading gives what is expected after its position was saved and restored, at each place."""
    first, second = (tf.data.make_initializable_iterator(dataset) for _ in range(2))
    reading, going_on = first.get_next(), second.get_next()
    position = tf.raw_ops.SerializeIterator(resource_handle=first._iterator_resource)
    restored = tf.raw_ops.DeserializeIterator(resource_handle=second._iterator_resource, serialized=position)
    with tf.Session() as session:
        for count in sorted({0, 1, 2, len(expected) // 2, len(expected)}):
            session.run([first.initializer, second.initializer])
            assert read(session, reading, count) == expected[:count]
            session.run(restored)
            assert read(session, going_on) == expected[count:]
    return True


def shapes(d):
    return tf.data.get_output_shapes(d)


def types(d):
    return tf.data.get_output_types(d)


def size(d):
    return tf.data.experimental.cardinality(d)


def complaint(error):
    """The type of an error and the first line of what it says, without the names that depend on what ran before."""
    text = re.sub(r"\{\{function_node [^}]*\}\} ?|_\d+_fifo_queue", "", getattr(error, "message", None) or str(error))
    return f"{type(error).__name__}: {' '.join(text.split(' [[')[0].split())[:90].rstrip()}"


def outcomes(dataset, most=12):
    """The elements of a dataset, and what is said of those that could not be computed; the same complaint twice ends it."""
    iterator = tf.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run([iterator.initializer, tf.tables_initializer()])
        while len(found) < most and not (len(found) > 1 and isinstance(found[-1], str) and found[-1] == found[-2]):
            try:
                found.append(plain(session.run(following)))
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.OpError as error:
                found.append(complaint(error))
    return found


def shown(made):
    """What comes of a call: the elements of a dataset, another value, or the complaint."""
    try:
        found = made()
        return outcomes(found) if isinstance(found, (tf.data.Dataset, tf.compat.v2.data.Dataset)) else found
    except Exception as error:
        return complaint(error)
