"""Decorators that say how, where and whether tests run."""

import unittest

import pytest
from absl.testing import parameterized

import everflow as tf
from everflow.test import case as cases
from everflow.test import combinations, decorating, leaks, machine, modes


def run(cls, name):
    result = unittest.TestResult()
    cls(name).run(result)
    for _, text in (*result.errors, *result.failures):
        raise AssertionError(text)
    return "skipped" if result.skipped else "passed"


def test_tests_for_all_modes_run_in_a_session():
    seen = []

    @modes.run_all_in_graph_and_eager_modes
    class Case(cases.TestCase):
        def test_it(self):
            seen.append(self.evaluate(tf.constant(3)))

    assert run(Case, "test_it") == "passed" and seen == [3] * len(modes.MODES)


def test_a_class_is_not_a_test_method():
    with pytest.raises(ValueError, match="run_all_in_graph_and_eager_modes"):
        modes.run_in_graph_and_eager_modes(cases.TestCase)


def test_tests_of_other_behaviour_are_skipped():
    class Case(cases.TestCase):
        @modes.run_v2_only
        def test_two(self):
            raise AssertionError("ran")

        @modes.run_v1_only("one only")
        def test_one(self):
            pass

        @machine.run_gpu_only
        def test_gpu(self):
            assert machine.is_gpu_available()

        @decorating.skip_if(lambda: True)
        def test_none(self):
            raise AssertionError("ran")

    outcomes = [run(Case, name) for name in ("test_two", "test_one", "test_none", "test_gpu")]
    assert outcomes == ["skipped", "passed", "passed", "passed" if machine.is_gpu_available() else "skipped"]


def test_one_test_becomes_two_for_graph_and_function():
    class Case(parameterized.TestCase):
        @modes.build_as_function_and_v1_graph
        def test_it(self):
            assert tf.get_default_graph().get_operations() == []

    assert run(Case, "test_it_v1_graph") == "passed"
    assert hasattr(Case, "test_it_function")


def test_decorators_go_on_each_test_of_a_class():
    called = []

    def noting(text):
        def decorate(method):
            def decorated(self):
                called.append(text)
                method(self)

            return decorated

        return decorate

    @decorating.for_all_test_methods(noting, "seen")
    class Case(cases.TestCase):
        def test_a(self):
            pass

        def helper(self):
            pass

    run(Case, "test_a")
    Case("test_a").helper()
    assert called == ["seen"]


def test_leaked_tensors_are_found():
    kept = []

    class Case(cases.TestCase):
        @leaks.assert_no_new_tensors
        def test_clean(self):
            tf.constant(1)

        @leaks.assert_no_new_tensors
        def test_leak(self):
            kept.append(tf.constant(1))

    assert run(Case, "test_clean") == "passed"
    with pytest.raises(AssertionError, match="Tensors not deallocated after test"):
        run(Case, "test_leak")


def test_garbage_is_found():
    class Case(cases.TestCase):
        @leaks.assert_no_garbage_created
        def test_clean(self):
            pass

        @leaks.assert_no_garbage_created
        def test_cycle(self):
            cycle = []
            cycle.append(cycle)

    assert run(Case, "test_clean") == "passed"
    with pytest.raises(AssertionError, match="0 != 1"):
        run(Case, "test_cycle")


def test_combinations_have_names():
    made = combinations.generate_combinations_with_testcase_name(b=[1, 2], a="x y")
    assert made == [{"a": "x y", "b": 1, "testcase_name": "_test_a_xy_b_1"}, {"a": "x y", "b": 2, "testcase_name": "_test_a_xy_b_2"}]
