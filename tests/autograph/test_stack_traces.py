"""Where the code of converted functions comes from."""

import threading

import everflow as tf

Mapper = tf.contrib.autograph.StackTraceMapper


def double_if_positive(x):
    if x > 0:
        x = x * 2
    return x


def negative(x):
    return -x


def test_lines_of_converted_functions_are_those_of_the_program():
    first = double_if_positive.__code__.co_firstlineno
    with Mapper(tf.autograph.to_graph(double_if_positive)) as mapper:
        found = mapper.get_effective_source_map()
    assert {(__file__, first + 2, "double_if_positive"), (__file__, first + 3, "double_if_positive")} <= {*found.values()}
    assert all(written[0] == __file__ and first <= written[1] <= first + 3 for written in found.values())


def test_mappers_know_those_around_them():
    outer, inner = (Mapper(tf.autograph.to_graph(f)) for f in (double_if_positive, negative))
    with outer, inner:
        names = {name for _, _, name in inner.get_effective_source_map().values()}
        assert names == {"double_if_positive", "negative"}
        assert {name for _, _, name in outer.get_effective_source_map().values()} == {"double_if_positive"}
    with inner:
        assert {name for _, _, name in inner.get_effective_source_map().values()} == {"negative"}


def test_threads_have_mappers_of_their_own():
    seen = []

    def look():
        with Mapper(tf.autograph.to_graph(negative)) as mapper:
            seen.append({name for _, _, name in mapper.get_effective_source_map().values()})

    with Mapper(tf.autograph.to_graph(double_if_positive)):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [{"negative"}]
