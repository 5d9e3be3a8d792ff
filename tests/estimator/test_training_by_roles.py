"""Training in roles, stopping, evaluating and exporting along the way; values are those of TensorFlow 1.15.5."""

import json
import os
import tempfile

import pytest
from plain import computed, plain

import everflow as tf
from everflow import internals

est = tf.estimator
training, stopping, exporter, gc, hooks = (
    internals.module(f"tensorflow_estimator.python.estimator.{name}")
    for name in ("training", "early_stopping", "exporter", "gc", "hooks.hooks")
)


steps_exporters = internals.module("contrib.estimator.python.estimator.exporter")


def model_fn(features, labels, mode):
    """Halves the distance of a number from 4 at each step."""
    w = tf.get_variable("w", initializer=0.0)
    predictions = {"y": features["x"] * w}
    if mode == "infer":
        exported = {"serving_default": est.export.PredictOutput(predictions)}
        return est.EstimatorSpec(mode, predictions=predictions, export_outputs=exported)
    loss = tf.reduce_mean(tf.abs(predictions["y"] - labels))
    train = tf.group(tf.assign(w, (w + 4.0) / 2.0), tf.assign_add(tf.train.get_global_step(), 1))
    return est.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train, eval_metric_ops={"w": tf.metrics.mean(w)})


def input_fn(times=None):
    return tf.data.Dataset.from_tensors(({"x": tf.constant([1.0])}, tf.constant([4.0]))).repeat(times)


def config(tf_config=None, **kwargs):
    before = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = json.dumps(tf_config or {})
    try:
        return est.RunConfig(model_dir=tempfile.mkdtemp(), **kwargs)
    finally:
        if before is None:
            del os.environ["TF_CONFIG"]
        else:
            os.environ["TF_CONFIG"] = before


def cluster(kind, index=0):
    return {"cluster": {"chief": ["h0:1"], "ps": ["h1:1"], "worker": ["h2:1", "h3:1", "h4:1"]}, "task": {"type": kind, "index": index}}


def estimator(tf_config=None, **kwargs):
    return est.Estimator(model_fn, config=config(tf_config, **kwargs))


def events(folder):
    """What evaluations wrote."""
    return {k: plain(dict(v)) for k, v in stopping.read_eval_metrics(folder).items()}


def written(values, metric="loss"):
    """A folder in which evaluations wrote a metric."""
    folder = tempfile.mkdtemp()
    for step, value in values:
        with tf.summary.FileWriter(folder) as writer:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag=metric, simple_value=value)]), step)
    return folder


def stops(make, values, *args, **kwargs):
    hook = make(estimator(), "loss", *args, eval_dir=written(values), **kwargs)
    return hook._should_stop_fn()


FALLING = [(10, 5.0), (20, 4.0), (30, 4.5), (40, 4.5), (50, 3.0), (60, 3.5)]
more, less = est.experimental.stop_if_higher_hook, est.experimental.stop_if_lower_hook
no_rise, no_fall = est.experimental.stop_if_no_increase_hook, est.experimental.stop_if_no_decrease_hook


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: stops(more, FALLING, 4.9), False),
        (lambda: stops(more, FALLING, 5.0), False),
        (lambda: stops(more, FALLING, 4.9, min_steps=20), False),
        (lambda: stops(more, FALLING, 4.9, min_steps=10), False),
        (lambda: stops(less, FALLING, 3.1), False),
        (lambda: stops(less, FALLING, 3.0), False),
        (lambda: stops(less, FALLING, 3.1, min_steps=51), False),
        (lambda: stops(no_fall, FALLING, 20), False),
        (lambda: stops(no_fall, FALLING, 21), False),
        (lambda: stops(no_fall, FALLING, 10, min_steps=50), False),
        (lambda: stops(no_fall, FALLING, 10, min_steps=60), False),
        (lambda: stops(no_rise, FALLING, 50), False),
        (lambda: stops(no_rise, FALLING, 51), False),
        (lambda: stops(no_rise, FALLING, 20, min_steps=21), False),
        (lambda: stops(no_rise, [], 1), False),
        (lambda: events(written([(20, 1.5), (10, 2.5)])), {10: {"loss": 2.5}}),
        (lambda: list(stopping.read_eval_metrics(written([(20, 1.5), (10, 2.5)]))), [10]),
        (lambda: dict(stopping.read_eval_metrics("/none/such")), {}),
        (lambda: type(more(estimator(cluster("worker")), "loss", 1.0)).__name__, "_CheckForStoppingHook"),
        (lambda: type(more(estimator(cluster("chief")), "loss", 1.0)).__name__, "_StopOnPredicateHook"),
        (lambda: type(est.experimental.make_stop_at_checkpoint_step_hook(estimator(), 5)).__name__, "StopAtStepHook"),
        (
            lambda: type(est.experimental.make_stop_at_checkpoint_step_hook(estimator(cluster("worker")), 5)).__name__,
            "_StopAtCheckpointStepHook",
        ),
        (lambda: more(estimator(), "loss", 1.0)._timer._every_secs, 60),
        (lambda: more(estimator(), "loss", 1.0, run_every_secs=None, run_every_steps=7)._timer._every_steps, 7),
    ],
)
def test_training_stops_by_what_evaluations_wrote(made, expected):
    assert computed(made()) == expected


def test_a_predicate_is_asked_every_so_many_steps():
    asked = []

    def should_stop():
        asked.append(len(asked))
        return len(asked) == 3

    e = estimator()
    hook = est.experimental.make_early_stopping_hook(e, should_stop, run_every_secs=None, run_every_steps=2)
    e.train(input_fn, max_steps=20, hooks=[hook])
    assert (asked, int(e.get_variable_value("global_step")), bool(e.get_variable_value("signal_early_stopping/STOP"))) == (
        [0, 1, 2],
        5,
        True,
    )


def test_a_worker_stops_when_the_flag_is_set():
    tf.train.get_or_create_global_step()
    hook = stopping._CheckForStoppingHook()
    hook.begin()
    flag = hook.before_run(None).fetches
    assert flag.op.name == "signal_early_stopping/STOP" and not flag.trainable
    set_flag = tf.assign(flag, True)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(flag)
        assert not session.should_stop()
        session.run_step_fn(lambda step_context: step_context.session.run(set_flag))
        session.run(flag)
        assert session.should_stop()


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: est.experimental.make_early_stopping_hook(3, lambda: True),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class 'int'>",
        ),
        (
            lambda: est.experimental.make_early_stopping_hook(estimator(), lambda: True, run_every_secs=1, run_every_steps=1),
            ValueError,
            "Only one of `run_every_secs` and `run_every_steps` must be set.",
        ),
        (lambda: est.experimental.make_early_stopping_hook(estimator(), 3), TypeError, "`should_stop_fn` must be callable."),
        (lambda: hooks._StopAtCheckpointStepHook("a", None), ValueError, "last_step must be specified."),
        (lambda: hooks._StopAtCheckpointStepHook(None, 3), ValueError, "model_dir must be specified."),
        (
            lambda: hooks._StopAtCheckpointStepHook("a", 3).begin(),
            RuntimeError,
            "Global step should be created to use StopAtCheckpointStepHook.",
        ),
        (lambda: est.experimental.InMemoryEvaluatorHook(estimator(), input_fn, every_n_iter=0), ValueError, "invalid every_n_iter=0."),
        (
            lambda: est.experimental.InMemoryEvaluatorHook(estimator(), input_fn, every_n_iter=None),
            ValueError,
            "invalid every_n_iter=None.",
        ),
        (
            lambda: est.experimental.InMemoryEvaluatorHook(estimator(cluster("chief")), input_fn),
            ValueError,
            "InMemoryEvaluator supports only single machine (aka Local) setting.",
        ),
        (lambda: training._EvalResult("evaluated"), ValueError, "Internal error: `Estimator.evaluate` should never return empty metrics."),
        (
            lambda: training._EvalResult("evaluated", {"loss": 1}, "a"),
            ValueError,
            "Internal error: `Estimator.evaluate` result should have `global_step` in result. Given",
        ),
        (lambda: training._EvalResult("evaluated", [1], "a"), TypeError, "`Estimator.evaluate` should return dict. Given <class 'list'>."),
        (
            lambda: training._EvalResult("evaluated", {"global_step": 1}),
            ValueError,
            "Internal error: `checkpoint_path` should never be empty.",
        ),
        (
            lambda: training._EvalResult("missing checkpoint", {"global_step": 1}),
            ValueError,
            "metrics must be `None` if status is not evaluated; got status missing checkpoint, metrics",
        ),
        (lambda: est.TrainSpec(3), TypeError, "`input_fn` must be callable, given: 3"),
        (lambda: est.TrainSpec(input_fn, max_steps=0), ValueError, "Must specify max_steps > 0, given: 0"),
        (lambda: est.TrainSpec(input_fn, hooks=[3]), TypeError, "All hooks must be `SessionRunHook` instances, given: 3"),
        (lambda: est.EvalSpec(3), TypeError, "`input_fn` must be callable, given: 3"),
        (lambda: est.EvalSpec(input_fn, steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: est.EvalSpec(input_fn, name=3), TypeError, "`name` must be string, given: 3"),
        (lambda: est.EvalSpec(input_fn, hooks=[3]), TypeError, "All hooks must be `SessionRunHook` instances, given: 3"),
        (
            lambda: est.EvalSpec(input_fn, exporters=[3]),
            TypeError,
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found [3].",
        ),
        (
            lambda: est.EvalSpec(input_fn, exporters=[Noting("a"), Noting("a")]),
            ValueError,
            "`exporters` must have unique names. Such a name cannot be `None`. All exporter names:",
        ),
        (
            lambda: est.EvalSpec(input_fn, exporters=[Noting("")]),
            ValueError,
            "An Exporter cannot have a name that is `None` or empty. All exporter names: ['']",
        ),
        (lambda: est.EvalSpec(input_fn, exporters=[Noting(3)]), ValueError, "An Exporter must have a string name. Given: <class 'int'>"),
        (lambda: est.EvalSpec(input_fn, start_delay_secs=-1), ValueError, "Must specify start_delay_secs >= 0, given: -1"),
        (lambda: est.EvalSpec(input_fn, throttle_secs=-1), ValueError, "Must specify throttle_secs >= 0, given: -1"),
        (
            lambda: est.train_and_evaluate(estimator(), est.TrainSpec(input_fn, 2), None),
            TypeError,
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: <class 'NoneType'>",
        ),
        (
            lambda: est.train_and_evaluate(3, est.TrainSpec(input_fn, 2), est.EvalSpec(input_fn)),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`. Got: <class 'int'>",
        ),
        (
            lambda: est.train_and_evaluate(estimator(), 3, est.EvalSpec(input_fn)),
            TypeError,
            "`train_spec` must have type `tf.estimator.TrainSpec`. Got: <class 'int'>",
        ),
        (
            lambda: role("evaluator", index=1, how=est.train_and_evaluate),
            ValueError,
            "For distributed training, there can only be one `evaluator` task (with task id 0).  Given",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), 3),
            TypeError,
            "`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: <class 'int'>",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), None, continuous_eval_listener=3),
            TypeError,
            "`continuous_eval_listener` must have type `_ContinuousEvalListener`.",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), None, train_hooks=[3]),
            TypeError,
            "All hooks must be `SessionRunHook` instances, given: 3",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), None).run_local(),
            TypeError,
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: <class 'NoneType'>",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), None).run_evaluator(),
            TypeError,
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: <class 'NoneType'>",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), None).run_master(),
            TypeError,
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: <class 'NoneType'>",
        ),
        (
            lambda: training._TrainingExecutor(estimator(), est.TrainSpec(input_fn), None)._start_std_server(config()),
            RuntimeError,
            "Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig",
        ),
        (lambda: est.BestExporter(serving_input_receiver_fn=receive, compare_fn=None), ValueError, "`compare_fn` must not be None."),
        (
            lambda: est.BestExporter(serving_input_receiver_fn=receive, exports_to_keep=0),
            ValueError,
            "`exports_to_keep`, if provided, must be a positive number. Got 0",
        ),
        (
            lambda: est.LatestExporter("a", receive, exports_to_keep=0),
            ValueError,
            "`exports_to_keep`, if provided, must be positive number",
        ),
        (lambda: exporter._loss_smaller(None, {"loss": 1}), ValueError, "best_eval_result cannot be empty or no loss is found in it."),
        (
            lambda: exporter._loss_smaller({"loss": 1}, {"a": 1}),
            ValueError,
            "current_eval_result cannot be empty or no loss is found in it.",
        ),
        (
            lambda: steps_exporters.StepsExporter(steps_to_keep=[0], serving_input_receiver_fn=receive),
            ValueError,
            "`steps_to_keep` list must have at least one positive integer",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)


class Noting(est.Exporter):
    """Notes what it is told to export."""

    def __init__(self, name, fail=False):
        self._name, self.told = name, []

    @property
    def name(self):
        return self._name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        short = os.path.relpath(export_path, estimator.model_dir), os.path.basename(checkpoint_path)
        self.told.append([*short, int(eval_result["global_step"]), float(eval_result["w"]), is_the_final_export])
        return self._name + "!"


def receive():
    x = tf.placeholder(tf.float32, [None])
    return est.export.ServingInputReceiver({"x": x}, {"x": x})


class Listener(training._ContinuousEvalListener):
    """Lets so many evaluations begin, and so many end."""

    def __init__(self, before=99, after=99):
        self.before, self.after, self.seen = before, after, []

    def before_eval(self):
        self.before -= 1
        return self.before >= 0

    def after_eval(self, eval_result):
        self.seen.append([eval_result.status, eval_result.metrics and int(eval_result.metrics["global_step"])])
        self.after -= 1
        return self.after > 0


class Counting(tf.train.SessionRunHook):
    def __init__(self):
        self.steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1


def evaluated_once():
    return input_fn(1)


def local(max_steps=4, listener=None, save=2, throttle_secs=0, **kwargs):
    e = estimator(save_checkpoints_steps=save, keep_checkpoint_max=9)
    noting, train_hook, other_hook, eval_hook = Noting("first"), Counting(), Counting(), Counting()
    executor = training._TrainingExecutor(
        e,
        est.TrainSpec(input_fn, max_steps, hooks=[train_hook]),
        est.EvalSpec(evaluated_once, steps=1, name="named", hooks=[eval_hook], exporters=[noting], throttle_secs=throttle_secs),
        train_hooks=[other_hook],
        continuous_eval_listener=listener,
    )
    result = executor.run()
    found = [plain(result[0]), result[1]] if result else result
    return [found, noting.told, train_hook.steps, other_hook.steps, eval_hook.steps, sorted(events(e.eval_dir("named")))]


def test_local_training_evaluates_and_exports_at_each_checkpoint():
    outcome, told, trained, also, evaluated, steps = local()
    assert outcome == [{"loss": 0.25, "w": 3.75, "global_step": 4}, ["first!"]]
    assert told == [["export/first", "model.ckpt-2", 2, 3.0, False], ["export/first", "model.ckpt-4", 4, 3.75, True]]
    assert (trained, also, evaluated, steps) == (4, 4, 2, [2, 4])


def test_evaluations_are_not_more_frequent_than_the_spec_says():
    assert [t[2] for t in local(throttle_secs=600)[1]] == [2, 4]
    assert [t[2] for t in local(max_steps=6, throttle_secs=600)[1]] == [2, 6]


def test_a_listener_ends_training_before_or_after_an_evaluation():
    before, after = Listener(before=1), Listener(after=1)
    assert [t[2] for t in local(max_steps=8, listener=before)[1]] == [2]
    assert [t[2] for t in local(max_steps=8, listener=after)[1]] == [2]
    assert after.seen == [["evaluated", 2]] and before.seen == [["evaluated", 2]]


def recording(config, checkpoints=(), steps=()):
    """An estimator that notes how it is trained and evaluated, and has the checkpoints that it is given."""
    e = est.Estimator(model_fn, config=config)
    e.calls, checkpoints, steps = [], list(checkpoints), list(steps)

    def train(input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        e.calls.append(["train", max_steps, [type(h).__name__ for h in hooks], len(saving_listeners or ())])
        return e

    def evaluate(input_fn, steps=None, hooks=None, checkpoint_path=None, name=None, steps_left=steps):
        e.calls.append(["evaluate", steps, len(hooks or ()), checkpoint_path, name])
        return {"global_step": steps_left.pop(0), "w": 1.0}

    e.train, e.evaluate, e.latest_checkpoint = train, evaluate, lambda: checkpoints.pop(0) if checkpoints else None
    return e


@pytest.fixture(autouse=True)
def naps(monkeypatch):
    """How long would have been slept."""
    found = []
    monkeypatch.setattr("time.sleep", lambda seconds: found.append(round(seconds)))
    return found


def role(kind, index=0, how=None, checkpoints=(), steps=(), listener=None, max_steps=10, throttle_secs=5, delay=7, **kwargs):
    e = recording(config(cluster(kind, index), **kwargs), checkpoints, steps)
    specs = (
        est.TrainSpec(input_fn, max_steps),
        est.EvalSpec(input_fn, steps=3, name="n", start_delay_secs=delay, throttle_secs=throttle_secs, exporters=[Noting("x")]),
    )
    if how is not None:
        return how(e, *specs)
    executor = training._TrainingExecutor(e, *specs, continuous_eval_listener=listener)
    executor._start_std_server = lambda config: e.calls.append(["server", config.task_type])
    outcome = executor.run()
    return [outcome if not isinstance(outcome, est.Estimator) else "trained", e.calls]


def test_chiefs_and_workers_start_a_server_and_train(naps):
    assert role("chief")[1] == [["server", "chief"], ["train", 10, [], 0]]
    assert naps == []
    for index, wanted in ((0, 5), (2, 15)):
        assert role("worker", index)[1] == [["server", "worker"], ["train", 10, [], 0]]
        assert naps.pop() == wanted
    role("worker", 2, experimental_max_worker_delay_secs=6)
    assert naps.pop() == 6
    role("worker", 2, experimental_max_worker_delay_secs=0)
    assert naps == []


def test_a_master_evaluates_at_checkpoints():
    e = recording(config({"cluster": {"master": ["h0:1"], "worker": ["h1:1"]}, "task": {"type": "master", "index": 0}}))
    executor = training._TrainingExecutor(e, est.TrainSpec(input_fn, 10), est.EvalSpec(input_fn))
    executor._start_std_server = lambda config: e.calls.append(["server", config.task_type])
    assert executor.run() is None and e.calls == [["server", "master"], ["train", 10, [], 1]]


def test_an_evaluator_waits_for_checkpoints_and_ends_with_the_last(naps):
    outcome, calls = role("evaluator", checkpoints=[None, "a", "a", "b"], steps=[5, 10])
    assert calls == [["evaluate", 3, 0, "a", "n"], ["evaluate", 3, 0, "b", "n"]]
    assert outcome is None
    assert naps == [7, 5, 5, 5, 5]


def test_an_evaluator_asks_its_listener(naps):
    after = Listener(after=2)
    outcome, _ = role("evaluator", checkpoints=[None, None, "a"], listener=after)
    assert after.seen == [["missing checkpoint", None]] * 2 and outcome is None
    listener = Listener(before=3)
    outcome, calls = role("evaluator", checkpoints=["a", "a", "a"], steps=[5], listener=listener, delay=0, throttle_secs=0)
    assert listener.seen == [["evaluated", 5], ["no new checkpoint", None], ["no new checkpoint", None]]
    assert len(calls) == 1 and naps == [7, 5]


def test_an_unknown_role_is_refused():
    e = recording(config({"cluster": {"chief": ["h:1"], "odd": ["h:2"]}, "task": {"type": "odd", "index": 0}}))
    with pytest.raises(ValueError, match="Task type odd is not supported. Supported task types are"):
        training._TrainingExecutor(e, est.TrainSpec(input_fn), est.EvalSpec(input_fn)).run()


def test_training_stops_after_some_seconds(monkeypatch):
    hook = training._StopAtSecsHook(5)
    clock = [100.0]
    monkeypatch.setattr("time.time", lambda: clock[0])
    hook.begin()
    asked = []

    class Context:
        def request_stop(self):
            asked.append(clock[0])

    for now in (104.0, 105.0, 105.5):
        clock[0] = now
        hook.after_run(Context(), None)
    assert asked == [105.0, 105.5]


def test_a_worker_stops_when_the_checkpoint_has_the_last_step(naps):
    e = estimator()
    e.train(input_fn, max_steps=3)
    asked = []

    class Context:
        def request_stop(self):
            asked.append(True)

    class Values:
        results = 0

    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        hook = hooks._StopAtCheckpointStepHook(e.model_dir, 3, 11)
        hook.begin()
        assert hook.before_run(None).fetches.op.name == "global_step/add"
        hook.after_run(Context(), Values)
        assert (asked, naps) == ([], [])
        Values.results = 2
        hook.after_run(Context(), Values)
        assert (asked, naps) == ([True], [])
        late = hooks._StopAtCheckpointStepHook(e.model_dir, 4, 11)
        late.begin()
        Values.results = 3
        late.after_run(Context(), Values)
        assert (asked, naps) == ([True], [11])


def test_a_model_is_evaluated_as_it_is_trained():
    e = estimator()
    counting = Counting()
    hook = est.experimental.InMemoryEvaluatorHook(e, evaluated_once, steps=1, name="inside", every_n_iter=2, hooks=[counting])
    e.train(input_fn, max_steps=5, hooks=[hook])
    found = events(e.eval_dir("inside"))
    assert {k: v["w"] for k, v in found.items()} == {0: 0.0, 2: 3.0, 4: 3.75, 5: 3.875}
    assert {k: v["loss"] for k, v in found.items()} == {0: 4.0, 2: 1.0, 4: 0.25, 5: 0.125}
    assert counting.steps == 4


def test_files_of_exports_are_chosen_by_version():
    paths = [gc.Path(f"/{v}", v) for v in (None, 1, 2, 4, 5, 8, 9)]
    for chooser, kept in (
        (gc._largest_export_versions(2), [8, 9]),
        (gc._one_of_every_n_export_versions(3), [2, 5, 9]),
        (gc._union(gc._largest_export_versions(1), gc._one_of_every_n_export_versions(5)), [5, 9]),
    ):
        assert sorted(p.export_version for p in chooser(paths)) == kept
    assert [p.export_version for p in gc._mod_export_version(4)(paths[1:])] == [4, 8]
    rest = gc._negation(gc._mod_export_version(2))(paths[1:])
    assert [p.export_version for p in rest] == [1, 5, 9]


def test_folders_of_exports_are_read_by_a_parser():
    folder = tempfile.mkdtemp()
    for name in ("3", "1", "x"):
        os.mkdir(os.path.join(folder, name))

    def parse(path):
        name = os.path.basename(path.path)
        return path._replace(export_version=int(name)) if name.isdigit() else None

    assert [(os.path.basename(p.path), p.export_version) for p in gc._get_paths(folder, parser=parse)] == [("1", 1), ("3", 3)]


class Exported:
    """An estimator that only exports: folders with names that count up."""

    def __init__(self, model_dir=None):
        self.model_dir, self.count, self.calls = model_dir or tempfile.mkdtemp(), 1500000000, []
        os.makedirs(self.eval_dir())

    def eval_dir(self, name=None):
        return os.path.join(self.model_dir, "eval" + ("_" + name if name else ""))

    def export_saved_model(self, folder, receiver, assets_extra=None, as_text=False, checkpoint_path=None, strip_default_attrs=True):
        self.count += 1
        self.calls.append([assets_extra, as_text, checkpoint_path])
        path = os.path.join(folder, str(self.count))
        tf.gfile.MakeDirs(path)
        return path.encode()


def exports(made, results, is_final=False, e=None, names=False):
    """Which results were exported, and the folders that are left."""
    e = e or Exported()
    folder = os.path.join(e.model_dir, "export")
    exported = [made.export(e, folder, f"c{i}", r, is_final) is not None for i, r in enumerate(results)]
    left = sorted(os.listdir(folder)) if os.path.exists(folder) else []
    return [exported, [int(n) - 1500000000 for n in left], e.calls]


def loss(*values):
    return [{"loss": v, "global_step": i * 10} for i, v in enumerate(values)]


def best(**kwargs):
    return est.BestExporter("best", receive, **kwargs)


def steps_exporter(steps, **kwargs):
    return steps_exporters.StepsExporter(steps_to_keep=steps, serving_input_receiver_fn=receive, **kwargs)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: exports(est.LatestExporter("a", receive, exports_to_keep=2), loss(1, 2, 3)),
            [[True, True, True], [2, 3], [[None, False, "c0"], [None, False, "c1"], [None, False, "c2"]]],
        ),
        (
            lambda: exports(est.LatestExporter("a", receive, exports_to_keep=None), loss(1, 2, 3)),
            [[True, True, True], [1, 2, 3], [[None, False, "c0"], [None, False, "c1"], [None, False, "c2"]]],
        ),
        (lambda: exports(est.LatestExporter("a", receive), loss(*range(7)))[1], [3, 4, 5, 6, 7]),
        (lambda: exports(est.LatestExporter("a", receive, {"x": "y"}, True), loss(1)), [[True], [1], [[{"x": "y"}, True, "c0"]]]),
        (lambda: exports(est.FinalExporter("a", receive), loss(1, 2)), [[False, False], [], []]),
        (
            lambda: exports(est.FinalExporter("a", receive, {"x": "y"}, True), loss(1), is_final=True),
            [[True], [1], [[{"x": "y"}, True, "c0"]]],
        ),
        (
            lambda: exports(best(), loss(3, 2, 2, 4, 1)),
            [[True, True, False, False, True], [1, 2, 3], [[None, False, "c0"], [None, False, "c1"], [None, False, "c4"]]],
        ),
        (lambda: exports(best(exports_to_keep=1), loss(3, 2, 1))[1], [3]),
        (lambda: exports(best(compare_fn=lambda best_eval_result, current_eval_result: True), loss(3, 4))[0], [True, True]),
        (
            lambda: exports(steps_exporter([5, 15, 20]), loss(1, 1, 1, 1)),
            [[False, True, True, False], [1, 2], [[None, False, "c1"], [None, False, "c2"]]],
        ),
        (lambda: exports(steps_exporter([20, 20]), loss(1, 1, 1, 1))[0], [False, False, True, False]),
        (lambda: exporter._loss_smaller({"loss": 2}, {"loss": 1}), True),
        (lambda: exporter._loss_smaller({"loss": 1}, {"loss": 1}), False),
        (lambda: best().name, "best"),
        (lambda: steps_exporter([1]).name, "steps_exporter"),
        (lambda: est.FinalExporter("a", receive).name, "a"),
    ],
)
def test_exporters_choose_what_to_export(made, expected):
    assert computed(made()) == expected


def evaluated(values):
    """An estimator whose evaluations wrote losses."""
    e = Exported()
    for step, value in values:
        with tf.summary.FileWriter(e.eval_dir()) as writer:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=value)]), step)
    return e


def test_exporters_go_on_from_what_evaluations_wrote():
    assert exports(best(), loss(2.5, 1.5), e=evaluated([(10, 3.0), (20, 2.0)]))[0] == [False, True]
    assert exports(best(event_file_pattern=None), loss(2.5, 1.5), e=evaluated([(10, 3.0), (20, 2.0)]))[0] == [True, True]
    made = steps_exporter([5, 15, 30], event_file_pattern="eval/*.tfevents.*")
    after = [{"loss": 1.0, "global_step": s} for s in (16, 31)]
    assert exports(made, after, e=evaluated([(10, 3.0), (15, 2.0)]))[0] == [False, True]


fc = tf.feature_column


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: est.classifier_parse_example_spec([fc.numeric_column("a")], "l"),
            {
                "a": "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)",
                "l": "FixedLenFeature(shape=(1,), dtype=tf.int64, default_value=None)",
            },
        ),
        (
            lambda: est.classifier_parse_example_spec([fc.numeric_column("a")], "l", tf.string, "d", "w"),
            {
                "a": "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)",
                "l": "FixedLenFeature(shape=(1,), dtype=tf.string, default_value='d')",
                "w": "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)",
            },
        ),
        (
            lambda: est.regressor_parse_example_spec([fc.numeric_column("a")], "l", label_dimension=3),
            {
                "a": "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)",
                "l": "FixedLenFeature(shape=(3,), dtype=tf.float32, default_value=None)",
            },
        ),
        (
            lambda: est.regressor_parse_example_spec([fc.numeric_column("a")], "l", tf.float64, 2.0, 1, fc.numeric_column("w")),
            {
                "a": "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)",
                "l": "FixedLenFeature(shape=(1,), dtype=tf.float64, default_value=2.0)",
                "w": "FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)",
            },
        ),
    ],
)
def test_specs_of_examples_hold_labels_and_weights(made, expected):
    assert {k: repr(v) for k, v in made().items()} == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: est.classifier_parse_example_spec([fc.numeric_column("a")], "a"),
            ValueError,
            "label should not be used as feature. label_key: a, features: dict_keys(['a'])",
        ),
        (
            lambda: est.classifier_parse_example_spec([fc.numeric_column("a")], "l", weight_column="a"),
            ValueError,
            "weight_column should not be used as feature. weight_column: a, features: dict_keys(['a',",
        ),
        (
            lambda: est.regressor_parse_example_spec(
                [fc.numeric_column("a")], "l", weight_column=fc.categorical_column_with_identity("i", 3)
            ),
            ValueError,
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type:",
        ),
    ],
)
def test_a_feature_is_no_label(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)
