"""slim.summaries: tags, and what is collected."""

import everflow as tf
from everflow import internals

summaries = tf.contrib.slim.summaries


def collected():
    return [summary.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def test_tags_are_made_of_prefix_name_and_kind():
    loss = tf.constant(1.0, name="a/loss")
    summaries.add_scalar_summary(loss)
    summaries.add_scalar_summary(loss, "named", "eval")
    summaries.add_zero_fraction_summary(loss, "named", "eval")
    summaries.add_zero_fraction_summary(loss)
    assert collected() == ["a/loss_1:0", "eval/named:0", "eval/named/Fraction_of_Zero_Values:0", "a/loss/Fraction_of_Zero_Values:0"]


def test_summaries_that_print_are_collected_as_what_prints(capfd):
    summaries.add_image_summary(tf.zeros([1, 2, 2, 3], name="picture"), print_summary=True)
    summaries.add_scalar_summary(tf.constant(2.0, name="loss"), print_summary=True)
    assert collected() == ["Print:0", "Print_1:0"]
    with tf.Session() as session:
        session.run(tf.summary.merge_all())
    assert "loss[2]" in capfd.readouterr().err


def test_what_a_model_consists_of(capsys):
    analyzer = tf.contrib.slim.model_analyzer
    tf.Variable(tf.zeros([2, 3]), name="w")
    step = tf.Variable(0, name="step")
    tf.placeholder(tf.float32, [None, 4], name="rows")
    tf.placeholder(tf.float32, name="anything")
    assert analyzer.analyze_vars(tf.global_variables(), print_info=True) == (7, 28)
    printed = capsys.readouterr().out.splitlines()
    assert printed[3:] == [
        "w:0 (float32_ref 2x3) [6, bytes: 24]",
        "step:0 (int32_ref ) [1, bytes: 4]",
        "Total size of variables: 7",
        "Total bytes of variables: 28",
    ]
    assert analyzer.tensor_description(step) == "(int32_ref )"
    assert analyzer.analyze_ops(tf.get_default_graph(), print_info=True) == 28
    printed = capsys.readouterr().out.splitlines()
    assert "w/read \t-> (float32 2x3) [6]" in printed
    assert printed[-2:] == ["rows \t-> (float32 ?x4) [0]", "anything \t->  [0]"]


def test_the_analyzer_is_found_where_programs_import_it_from():
    module = internals.module("contrib.slim.python.slim.model_analyzer")
    assert module.analyze_vars is tf.contrib.slim.model_analyzer.analyze_vars
