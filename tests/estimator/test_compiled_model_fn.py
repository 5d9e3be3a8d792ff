"""Model functions whose computation is compiled."""

import pytest

import everflow as tf

xla = tf.contrib.compiler.xla
TRAIN, EVAL = tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL


def given():
    return tf.placeholder_with_default(2.0, []), tf.placeholder_with_default(3.0, [])


@pytest.mark.parametrize("params", [None, {"use_tpu": False}])
def test_training_runs_the_train_op_with_the_loss(session, params):
    @xla.estimator_model_fn
    def model_fn(features, labels, mode, params):
        seen.append(params)
        weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        return tf.estimator.EstimatorSpec(mode, loss=features * labels, train_op=weight.assign_add(1.0))

    seen = []
    spec = model_fn(*given(), TRAIN, params)
    session.run(tf.global_variables_initializer())
    assert [session.run([spec.train_op, spec.loss])[1] for _ in range(2)] == [6, 6]
    assert session.run(tf.global_variables()[0]) == 2
    assert seen == [params]
    assert "_xla_compile_id" in tf.get_default_graph().get_operation_by_name("mul").attrs


def test_the_computation_is_not_compiled_for_tpus():
    made = []

    def model_fn(features, labels, mode, params):
        made.append(tf.estimator.EstimatorSpec(mode, loss=features, train_op=tf.no_op()))
        return made[0]

    assert xla.estimator_model_fn(model_fn)(*given(), TRAIN, {"use_tpu": True}) is made[0]


def evaluated(tensors):
    def metric_fn(total, difference):
        return {"total": (total, total), "difference": (difference, difference)}

    def model_fn(features, labels, mode):
        return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=features, eval_metrics=(metric_fn, tensors(features, labels)))

    return xla.estimator_model_fn(model_fn)(*given(), EVAL)


@pytest.mark.parametrize("tensors", [lambda x, y: [x + y, x - y], lambda x, y: {"difference": x - y, "total": x + y}])
def test_metrics_are_computed_outside(session, tensors):
    spec = evaluated(tensors)
    assert session.run([spec.loss, spec.eval_metric_ops["total"][0], spec.eval_metric_ops["difference"][1]]) == [2, 5, -1]


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (lambda x, y: {"total": x}, r"Arguments \['difference'\] are needed by metric_fn"),
        (lambda x, y: {"total": x, "difference": y, "more": y}, r"Arguments \['more'\] are provided by evaluation tensors"),
    ],
)
def test_metrics_must_get_what_they_take(tensors, message):
    with pytest.raises(ValueError, match=message):
        evaluated(tensors)


def test_metrics_of_plain_specs_are_refused_and_predictions_too():
    @xla.estimator_model_fn
    def model_fn(features, labels, mode):
        return tf.estimator.EstimatorSpec(mode, loss=features, eval_metric_ops={"m": (tf.identity(features), tf.no_op())})

    with pytest.raises(ValueError, match="EstimatorSpec.eval_metric_ops is not supported with XLA compilation"):
        model_fn(*given(), EVAL)
    with pytest.raises(NotImplementedError, match="only TRAIN and EVAL are supported"):
        model_fn(*given(), tf.estimator.ModeKeys.PREDICT)


def test_summaries_are_left_out():
    @xla.estimator_model_fn
    def model_fn(features, labels, mode):
        tf.summary.scalar("s", features)
        tf.summary.image("i", features)
        return tf.estimator.EstimatorSpec(mode, loss=features, train_op=tf.no_op())

    model_fn(*given(), TRAIN)
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == []
    tf.summary.scalar("s", 1.0)
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 1


def test_scaffolds_are_made_outside():
    scaffold = tf.train.Scaffold()

    def model_fn(features, labels, mode, params):
        return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=features, train_op=tf.no_op(), scaffold_fn=lambda: params["scaffold"])

    compiled = xla.estimator_model_fn()(model_fn)
    assert compiled(*given(), TRAIN, {"scaffold": scaffold}).scaffold is scaffold
    with pytest.raises(ValueError, match="scaffold_fn returns None, which is not allowed"):
        compiled(*given(), TRAIN, {"scaffold": None})


def test_how_many_arguments_functions_take():
    class Queue:
        number_of_tuple_elements = 1

    def check(function, number, queue=None):
        return xla.check_function_argument_count(function, number, queue)

    assert [check(lambda a, b=1: 0, n) for n in range(4)] == ["at least 1 argument", None, None, "at most 2 arguments"]
    assert [check(lambda a, b: 0, n) for n in (1, 2, 3)] == ["exactly 2 arguments", None, "exactly 2 arguments"]
    assert check(lambda *a: 0, 3) is None and check(lambda: 0, 1) == "exactly 0 arguments"
    assert check(lambda a, b: 0, 1, Queue()) is None
