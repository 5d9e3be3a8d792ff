"""tf.load_op_library: ops written in C++ are ops like others."""

import inspect
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import everflow as tf
from running import run


def test_functions_are_made_of_what_is_registered(ops):
    assert list(inspect.signature(ops.times_plus).parameters) == ["x", "factor", "steps", "mode", "name"]
    assert ops.times_plus.__doc__ == "Multiplies, and adds the steps."
    assert [op.name for op in ops.OP_LIST.op][:2] == ["TimesPlus", "RowsOf"]


def test_kernels_are_chosen_by_type_and_get_attributes(ops):
    assert run(ops.times_plus([1.0, 2.0])).tolist() == [2, 4]
    found = run(ops.times_plus(tf.constant([[1.0], [2.0]], tf.float64), factor=0.5, steps=[1, 10]))
    assert found.dtype == np.float64
    assert found.tolist() == [[11.5], [12.0]]


def test_a_type_without_kernel_is_named(ops):
    y = ops.times_plus(tf.constant([1, 2]))
    with pytest.raises(tf.errors.NotFoundError, match=r"No OpKernel was registered to support Op 'TimesPlus'(.|\n)*T in \[DT_float\]"):
        run(y)


def test_wrong_arguments_get_the_errors_of_ops(ops):
    with pytest.raises(TypeError, match="'x' has DataType string not in list of allowed values: float32, float64, int32"):
        ops.times_plus(["a"])
    with pytest.raises(ValueError, match="'mode' of 'TimesPlus' Op passed string 'other' not in"):
        ops.times_plus([1.0], mode="other")


def test_statuses_become_errors_and_the_session_lives(ops, session):
    y = ops.times_plus(np.zeros(13, np.float32))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"13 numbers in \[13\]"):
        session.run(y)
    with pytest.raises(tf.errors.InvalidArgumentError, match="factor must not be negative, got -1"):
        session.run(ops.times_plus([1.0], factor=-1.0))
    assert session.run(ops.times_plus([1.0])).tolist() == [2]


def test_shape_functions_know_inputs_and_constants(ops):
    x = tf.placeholder(tf.float32, [None, 3])
    rows, total = ops.rows_of([x, x], 2)
    assert [r.shape.as_list() for r in rows] == [[2, 3], [2, 3]]
    assert total.shape.rank == 0
    unknown, _ = ops.rows_of([tf.placeholder(tf.float32)], tf.placeholder(tf.int32, []))
    assert unknown[0].shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        ops.rows_of([[1.0]], 1)
    assert ops.faulty([1.0], how="").shape.rank is None


def test_lists_of_tensors_come_and_go(ops):
    parts = [np.arange(6).reshape(3, 2), np.arange(4).reshape(2, 2)]
    rows, total = run(ops.rows_of(parts, 2))
    assert [r.tolist() for r in rows] == [[[0, 1], [2, 3]], [[0, 1], [2, 3]]]
    assert total == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="part 1 has 2 rows only"):
        run(ops.rows_of(parts, 3))


def test_inputs_need_not_be_dense(ops):
    assert run(ops.times_plus(tf.transpose(tf.constant([[1.0, 2.0], [3.0, 4.0]])))).tolist() == [[2, 6], [4, 8]]
    assert run(ops.times_plus(np.zeros((0, 3), np.float32))).shape == (0, 3)


def test_texts_are_bytes_of_any_kind(ops):
    assert run(ops.backwards([["ab", "c\0d"], ["", "\xff"]])).tolist() == [[b"ba", b"d\0c"], [b"", b"\xbf\xc3"]]


def test_kernels_may_answer_from_other_threads(ops):
    assert run(ops.later_sum(np.ones(100_000, np.float32))) == 100_000
    with pytest.raises(tf.errors.FailedPreconditionError, match="nothing to sum"):
        run(ops.later_sum(np.zeros(0, np.float32)))


def test_threads_run_kernels_at_once(ops, session):
    x = tf.placeholder(tf.float32, [None])
    y = ops.later_sum(ops.times_plus(x))
    found = {}

    def work(i):
        for _ in range(20):
            found[i] = session.run(y, {x: np.full(1000, i)})

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: 2000 * i for i in range(4)}


def test_resources_outlive_runs_and_are_shared_by_name(ops, session):
    add = ops.tally_add(ops.tally_handle(start=5, shared_name="one"), 2)
    assert [session.run(add) for _ in range(3)] == [7, 9, 11]
    assert session.run(ops.tally_add(ops.tally_handle(start=100, shared_name="one"), 1)) == 12
    assert session.run(ops.tally_add(ops.tally_handle(start=100), 1)) == 101


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("throws", "thrown by a kernel"),
        ("wrong type", "type float and shape .2. has elements of type float, not int32"),
        ("wrong rank", "does not have 2 dimensions"),
        ("nothing", "Missing 0-th output from"),
    ],
)
def test_faulty_kernels_end_with_an_error(ops, how, message):
    with pytest.raises(tf.errors.InternalError, match=message):
        run(ops.faulty([1.0, 2.0], how=how))


def test_memory_that_is_not_there_is_refused_in_words_of_those_who_keep_it(ops):
    with pytest.raises(Exception, match=r"(?i)memory|storage|overflow"):
        run(ops.faulty([1.0], how="too large"))
    assert run(ops.times_plus([1.0])).tolist() == [2]


def test_resources_belong_to_their_session(ops):
    handle = ops.tally_handle(start=10, shared_name="shared")
    count = ops.tally_add(handle, tf.constant(1, tf.int64))
    again = ops.tally_add(ops.tally_handle(start=99, shared_name="shared"), tf.constant(5, tf.int64))
    with tf.Session() as first, tf.Session() as second:
        assert [first.run(count), first.run(count), second.run(count)] == [11, 12, 11]
        assert first.run(again) == 17
        assert second.run(again) == 16
    with tf.Session() as third:
        assert third.run(count) == 11


def test_what_has_no_name_to_share_lives_as_long_as_the_session(ops):
    count = ops.tally_add(ops.tally_handle(), tf.constant(1, tf.int64))
    more = tf.identity(count)
    with tf.Session() as session:
        assert [session.run(count), session.run(more), session.run(count)] == [1, 2, 3]


def test_containers_are_reset(ops):
    kept, lost = (
        ops.tally_add(ops.tally_handle(container=container, shared_name="t"), tf.constant(1, tf.int64)) for container in ("kept", "lost")
    )
    server = tf.train.Server.create_local_server()
    with tf.Session(server.target) as session:
        assert [session.run([kept, lost]) for _ in range(2)] == [[1, 1], [2, 2]]
    tf.Session.reset(server.target, ["lost"])
    with tf.Session(server.target) as session:
        assert session.run([kept, lost]) == [3, 1]


def test_gradients_are_registered_in_python(ops):
    tf.RegisterGradient("TimesPlus")(lambda op, dy: dy * op.get_attr("factor"))
    x = tf.constant([1.0, 2.0])
    assert run(tf.gradients(ops.times_plus(x, factor=3.0), x)[0]).tolist() == [3, 3]


def test_constants_that_shape_functions_look_at_may_be_fed(ops, session):
    x = tf.constant([1.0])
    assert session.run(ops.times_plus(x), {x: [5.0]}).tolist() == [10]


def test_ops_run_at_once_in_eager_mode(ops, eager):
    assert ops.times_plus([1.0, 2.0], steps=[1]).numpy().tolist() == [3, 5]
    assert ops.backwards("abc").numpy() == b"cba"
    assert tf.function(lambda x: ops.times_plus(x) + 1.0)(tf.constant([1.0])).numpy().tolist() == [3]


def test_graphs_that_hold_them_are_imported(ops):
    with tf.Graph().as_default() as graph:
        ops.times_plus(tf.placeholder(tf.float32, [2], name="x"), factor=4.0, name="y")
        text = graph.as_graph_def().SerializeToString()
    (y,) = tf.import_graph_def(tf.GraphDef.FromString(text), return_elements=["y:0"], input_map={"x:0": tf.constant([1.0, 2.0])})
    assert run(y).tolist() == [4, 8]


HAS_EIGEN = any(pathlib.Path(folder, "unsupported/Eigen/CXX11/Tensor").exists() for folder in ("/usr/include/eigen3", "/usr/include"))


@pytest.mark.skipif(not HAS_EIGEN, reason="Eigen is not installed")
def test_elements_are_tensors_of_eigen_where_it_is_installed(library):
    path = library(
        """
        REGISTER_OP("ByEigen").Input("x: float").Output("y: float").Output("sum: float");
        struct ByEigen : OpKernel {
            using OpKernel::OpKernel;
            void Compute(OpKernelContext* c) override {
                Tensor *y = nullptr, *sum = nullptr;
                OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
                OP_REQUIRES_OK(c, c->allocate_output(1, TensorShape({}), &sum));
                const auto& device = c->eigen_device<Eigen::ThreadPoolDevice>();
                const Tensor& x = c->input(0);
                y->flat<float>().device(device) = x.flat<float>() * 2.0f + x.flat<float>().constant(1.0f);
                sum->scalar<float>().device(device) = x.matrix<float>().sum();
            }
        };
        REGISTER_KERNEL_BUILDER(Name("ByEigen").Device(DEVICE_CPU), ByEigen);
        """,
        flags=["-O1"],
    )
    y, total = run(tf.load_op_library(path).by_eigen([[1.0, 2.0], [3.0, 4.0]]))
    assert (y.tolist(), total) == ([[3, 5], [7, 9]], 10)


def test_all_registered_ops_can_be_listed(ops, library):
    path = library(
        """
        REGISTER_OP("ListOps").Output("text: string");
        struct ListOps : OpKernel {
            using OpKernel::OpKernel;
            void Compute(OpKernelContext* c) override {
                Tensor* text = nullptr;
                OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({}), &text));
                text->scalar<tstring>()() = OpRegistry::Global()->DebugString(false);
            }
        };
        REGISTER_KERNEL_BUILDER(Name("ListOps").Device(DEVICE_CPU), ListOps)
        """
    )
    lines = run(tf.load_op_library(path).list_ops()).decode().splitlines()
    assert "Op<name=Backwards; signature=texts: string -> turned: string>" in lines
    assert "Op<name=ListOps; signature= -> text: string>" in lines


def test_what_ops_of_the_field_use(library):
    path = library(
        """
#include "tensorflow/core/framework/bounds_check.h"
static Status Fails() { return errors::InvalidArgument("first"); }
static Status Inner(bool fails) {
    if (fails) TF_RETURN_WITH_CONTEXT_IF_ERROR(Fails(), "then ", 2);
    return Status::OK();
}
REGISTER_OP("OfTheField").Attr("lambda: int = 1").Input("in: float32").Output("out: float32");
class OfTheFieldOp : public OpKernel {
public:
    explicit OfTheFieldOp(OpKernelConstruction* context) : OpKernel(context) {
        const AttrValue& value = context->def().attr().at("lambda");
        OP_REQUIRES(context, value.has_i() && context->def().op() == "OfTheField", errors::Internal(context->def().DebugString()));
        factor_ = static_cast<float>(value.i());
    }
    void Compute(OpKernelContext* context) override {
        const auto in = context->input(0).flat<float>();
        OP_REQUIRES_OK(context, Inner(!FastBoundsCheck(in.size() - 1, 3) || FastBoundsCheck(-1, 3u)));
        Tensor* out = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &out));
        for (int i = 0; i < in.size(); ++i) out->flat<float>()(i) = factor_ * in(i);
    }
private:
    float factor_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("OfTheField").Device(DEVICE_CPU), OfTheFieldOp);
""",
        "field.so",
    )
    function = tf.load_op_library(path).of_the_field
    assert list(inspect.signature(function).parameters) == ["in_", "lambda_", "name"]
    assert run(function(in_=[1.0, 2.0], lambda_=3)).tolist() == [3, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="first\\n\tthen 2"):
        run(function([0.0] * 4))


def test_a_library_is_loaded_once(library):
    path = library('REGISTER_OP("LoadedOnce").Output("x: float");')
    assert tf.load_op_library(path) is tf.load_op_library(path)


def test_by_a_bare_name_from_the_working_folder(library, monkeypatch, tmp_path):
    library('REGISTER_OP("FoundHere").Output("x: float");', "here.so")
    monkeypatch.chdir(tmp_path)
    assert callable(tf.load_op_library("here.so").found_here)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('REGISTER_OP("MatMul").Output("x: float");', "Op with name MatMul"),
        ('REGISTER_OP("Twice").Output("x: float"); REGISTER_OP("Twice").Output("x: float");', "Op with name Twice"),
    ],
)
def test_a_name_is_taken_once(library, text, message):
    with pytest.raises(tf.errors.AlreadyExistsError, match=message):
        tf.load_op_library(library(text))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ('Attr("T: nothing")', "Trouble parsing type string at 'nothing'"),
        ('Input("x: T")', "Reference to unknown attr 'T'"),
        ('Input("x")', "Trouble parsing '<name>:'"),
        ("Attr(\"n: int = 'a'\")", "Could not parse default value ''a''"),
    ],
)
def test_words_that_define_nothing_are_refused(library, spec, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.load_op_library(library(f'REGISTER_OP("Undefined").{spec};'))


def test_files_that_are_no_libraries_are_refused(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(tf.errors.NotFoundError, match=r"text\.so"):
        tf.load_op_library(str(tmp_path / "text.so"))
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        tf.load_op_library(str(tmp_path / "missing.so"))
    with pytest.raises(OSError, match="does not exist"):
        tf.load_library(str(tmp_path / "missing"))


def test_libraries_for_another_framework_say_how_to_compile_them(library):
    path = library("void elsewhere(); struct Late { Late() { elsewhere(); } } late;")
    with pytest.raises(tf.errors.NotFoundError, match=r"undefined symbol: _Z9elsewherev \(compile it with tf\.sysconfig"):
        tf.load_op_library(path)


def test_libraries_compiled_with_other_headers_say_so(library):
    path = library('extern "C" const char everflow_framework_abi_1; const char* wanted = &everflow_framework_abi_1;')
    with pytest.raises(
        tf.errors.NotFoundError, match=r"lib\.so was compiled with the headers of another version of Everflow; compile it again"
    ):
        tf.load_op_library(path)


def test_a_folder_of_libraries(library, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    library('REGISTER_OP("OfAFolder").Output("x: float");', "folder/a.so")
    (folder / "readme.txt").write_text("no library")
    tf.load_library(str(folder))
    assert tf.get_default_graph().create_op("OfAFolder", [], [tf.float32]).outputs[0].dtype == tf.float32


def test_programs_end_cleanly_with_kernels_alive(library):
    path = library(
        'REGISTER_OP("Alive").Output("x: float");'
        "struct K : OpKernel { using OpKernel::OpKernel; void Compute(OpKernelContext* c) override {"
        "Tensor* t = nullptr; OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({}), &t)); t->scalar<float>()() = 4; } };"
        'REGISTER_KERNEL_BUILDER(Name("Alive").Device(DEVICE_CPU), K);'
    )
    program = f"import tensorflow as tf; m = tf.load_op_library({path!r}); s = tf.Session(); print(s.run(m.alive()))"
    done = subprocess.run([sys.executable, "-m", "everflow", "run", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("4.0\n", "", 0)
