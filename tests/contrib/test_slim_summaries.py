"""slim.summaries: tags, and what is collected."""

import everflow as tf

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
