// Runs kernels of custom ops: torch's tensors go in and come out as they are, without copies; see framework/abi.h.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custom_ops.h"
#include "framework/abi.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr int32_t STRING = 7, RESOURCE = 20;

// What one kernel's calls have in common.
struct CustomKernel {
    void* kernel;
    EverflowCompute compute;
    void (*release)(void* kernel);
    std::vector<int32_t> inputs, outputs;
    // For each output, what makes an empty tensor of a list of sizes.
    nb::list makers;
    // What raises an error: raises(code, message).
    nb::callable raises;
    // What turns an output that is not in the right memory, or holds no numbers, into a value: others(kind, sizes, content).
    nb::callable others;

    CustomKernel(uintptr_t kernel_address, uintptr_t compute_address, uintptr_t release_address, std::vector<int32_t> input_types, std::vector<int32_t> output_types,
                 nb::list output_makers, nb::callable raise, nb::callable other_outputs)
        : kernel(reinterpret_cast<void*>(kernel_address)), compute(reinterpret_cast<EverflowCompute>(compute_address)),
          release(reinterpret_cast<void (*)(void*)>(release_address)), inputs(std::move(input_types)), outputs(std::move(output_types)), makers(std::move(output_makers)), raises(std::move(raise)),
          others(std::move(other_outputs)) {}

    CustomKernel(const CustomKernel&) = delete;
    void operator=(const CustomKernel&) = delete;
    ~CustomKernel() { release(kernel); }

    nb::object call(const nb::args& values);
};

void drop(void* owner) {
    nb::gil_scoped_acquire held;
    Py_DECREF(static_cast<PyObject*>(owner));
}

void drop_texts(void* owner) { delete static_cast<std::vector<std::string>*>(owner); }

struct Names {
    PyObject *data_ptr = PyUnicode_InternFromString("data_ptr"), *shape = PyUnicode_InternFromString("shape");
    PyObject *contiguous = PyUnicode_InternFromString("contiguous"), *is_contiguous = PyUnicode_InternFromString("is_contiguous");
    PyObject* address = PyUnicode_InternFromString("address");
};

const Names& names() {
    static const Names* const all = new Names;
    return *all;
}

// One run: what came in, what was made, what went wrong.
struct Run {
    const CustomKernel& kernel;
    std::vector<EverflowTensor> inputs;
    std::vector<std::vector<int64_t>> sizes;
    std::vector<nb::object> made, results;
    std::vector<std::vector<int64_t>> made_sizes;
    std::string message;
    // What Python raised while memory was asked for.
    std::unique_ptr<nb::python_error> refused;

    explicit Run(const CustomKernel& of) : kernel(of), made(of.outputs.size()), results(of.outputs.size()), made_sizes(of.outputs.size()) { sizes.reserve(of.inputs.size()); }

    void* address_of(const nb::object& value) const {
        const nb::object number = nb::steal(PyObject_CallMethodNoArgs(value.ptr(), names().data_ptr));
        if (!number.is_valid()) throw nb::python_error();
        return PyLong_AsVoidPtr(number.ptr());
    }

    void read_shape(const nb::object& value) {
        const nb::object shape = nb::steal(PyObject_GetAttr(value.ptr(), names().shape));
        if (!shape.is_valid()) throw nb::python_error();
        const Py_ssize_t rank = PyTuple_GET_SIZE(shape.ptr());
        std::vector<int64_t> found(static_cast<size_t>(rank));
        for (Py_ssize_t d = 0; d < rank; ++d) found[static_cast<size_t>(d)] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), d));
        sizes.push_back(std::move(found));
    }

    void add(int32_t type, nb::object value) {
        EverflowTensor tensor{type, 0, nullptr, nullptr, nullptr, nullptr};
        if (type == STRING) {
            read_shape(value);
            auto* texts = new std::vector<std::string>;
            tensor.owner = texts, tensor.release = drop_texts;
            const nb::object flat = value.attr("ravel")().attr("tolist")();
            for (nb::handle text : flat) {
                char* at = nullptr;
                Py_ssize_t size = 0;
                if (PyBytes_AsStringAndSize(text.ptr(), &at, &size)) {
                    delete texts;
                    throw nb::python_error();
                }
                texts->emplace_back(at, static_cast<size_t>(size));
            }
            tensor.data = texts->data();
        } else if (type == RESOURCE) {
            read_shape(value);
            const nb::object address = nb::steal(PyObject_GetAttr(value.ptr(), names().address));
            if (!address.is_valid()) throw nb::python_error();
            tensor.data = PyLong_AsVoidPtr(address.ptr());
            tensor.owner = value.inc_ref().ptr(), tensor.release = drop;
        } else {
            const nb::object dense = nb::steal(PyObject_CallMethodNoArgs(value.ptr(), names().is_contiguous));
            if (!dense.is_valid()) throw nb::python_error();
            if (dense.ptr() != Py_True) {
                value = nb::steal(PyObject_CallMethodNoArgs(value.ptr(), names().contiguous));
                if (!value.is_valid()) throw nb::python_error();
            }
            read_shape(value);
            tensor.data = address_of(value);
            tensor.owner = value.inc_ref().ptr(), tensor.release = drop;
        }
        tensor.rank = static_cast<int32_t>(sizes.back().size()), tensor.sizes = sizes.back().data();
        inputs.push_back(tensor);
    }

    static nb::list listed(const EverflowTensor& tensor) {
        nb::list found;
        for (int32_t d = 0; d < tensor.rank; ++d) found.append(tensor.sizes[d]);
        return found;
    }

    static int64_t count(const EverflowTensor& tensor) {
        int64_t elements = 1;
        for (int32_t d = 0; d < tensor.rank; ++d) elements *= tensor.sizes[d];
        return elements;
    }

    static bool allocate(void* call, int32_t output, EverflowTensor* tensor) {
        Run& run = *static_cast<Run*>(call);
        nb::gil_scoped_acquire held;
        try {
            nb::object made = run.kernel.makers[static_cast<size_t>(output)](listed(*tensor));
            tensor->data = run.address_of(made);
            run.made[static_cast<size_t>(output)] = made;
            run.made_sizes[static_cast<size_t>(output)].assign(tensor->sizes, tensor->sizes + tensor->rank);
            tensor->owner = made.release().ptr(), tensor->release = drop;
            return true;
        } catch (nb::python_error& error) {
            run.refused = std::make_unique<nb::python_error>(std::move(error));
            return false;
        }
    }

    static void deliver(void* call, int32_t output, const EverflowTensor* tensor) {
        Run& run = *static_cast<Run*>(call);
        const size_t at = static_cast<size_t>(output);
        nb::gil_scoped_acquire held;
        nb::object& made = run.made[at];
        if (made.is_valid() && made.ptr() == tensor->owner && run.address_of(made) == tensor->data) {
            // The memory that was made for this output; a kernel may have given it another shape.
            const bool same = std::equal(tensor->sizes, tensor->sizes + tensor->rank, run.made_sizes[at].begin(), run.made_sizes[at].end());
            run.results[at] = same ? made : run.kernel.others("shaped", listed(*tensor), made);
        } else if (tensor->type == STRING) {
            nb::list texts;
            const auto* from = static_cast<const std::string*>(tensor->data);
            for (int64_t i = 0, n = count(*tensor); i < n; ++i) texts.append(nb::bytes(from[i].data(), from[i].size()));
            run.results[at] = run.kernel.others("texts", listed(*tensor), texts);
        } else if (tensor->type == RESOURCE) {
            run.results[at] = run.kernel.others("resource", listed(*tensor), reinterpret_cast<uintptr_t>(tensor->data));
        } else {
            run.results[at] = run.kernel.others(output, listed(*tensor), reinterpret_cast<uintptr_t>(tensor->data));
        }
    }

    static void failed(void* call, const char* message) { static_cast<Run*>(call)->message = message; }
};

nb::object CustomKernel::call(const nb::args& values) {
    Run run(*this);
    if (values.size() != inputs.size()) throw nb::type_error("another number of inputs");
    try {
        for (size_t i = 0; i < inputs.size(); ++i) run.add(inputs[i], nb::borrow(values[i]));
    } catch (...) {
        for (const EverflowTensor& tensor : run.inputs) tensor.release(tensor.owner);
        throw;
    }
    const EverflowCall entry = {&run, Run::allocate, Run::deliver};
    int32_t code;
    {
        nb::gil_scoped_release released;
        code = compute(kernel, run.inputs.data(), static_cast<int32_t>(run.inputs.size()), &entry, Run::failed);
    }
    if (code && run.refused) throw nb::python_error(std::move(*run.refused));
    if (code) return raises(code, nb::str(run.message.c_str(), run.message.size()));
    if (run.results.size() == 1) return run.results[0];
    nb::list all;
    for (const nb::object& result : run.results) all.append(result);
    return nb::tuple(all);
}

}  // namespace

void add_custom_ops(nb::module_& module) {
    nb::class_<CustomKernel>(module, "CustomKernel", "A kernel of a library of custom ops, called with run-time values.")
        .def(nb::init<uintptr_t, uintptr_t, uintptr_t, std::vector<int32_t>, std::vector<int32_t>, nb::list, nb::callable, nb::callable>(), nb::arg("kernel"),
             nb::arg("compute"), nb::arg("release"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("makers"), nb::arg("raises"), nb::arg("others"))
        .def("__call__", &CustomKernel::call);
}

}  // namespace everflow
