// Runs kernels of custom ops: torch's tensors go in and come out as they are, without copies; see framework/abi.h.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
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

constexpr int32_t STRING = 7, RESOURCE = 20, VARIANT = 21;

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

nb::object asked(const nb::object& of, PyObject* name) {
    const nb::object found = nb::steal(PyObject_GetAttr(of.ptr(), name));
    if (!found.is_valid()) throw nb::python_error();
    return found;
}

void* address_of(const nb::object& value) {
    const nb::object number = nb::steal(PyObject_CallMethodNoArgs(value.ptr(), names().data_ptr));
    if (!number.is_valid()) throw nb::python_error();
    return PyLong_AsVoidPtr(number.ptr());
}

std::vector<int64_t> shape_of(const nb::object& value) {
    const nb::object shape = asked(value, names().shape);
    const Py_ssize_t rank = PyTuple_GET_SIZE(shape.ptr());
    std::vector<int64_t> found(static_cast<size_t>(rank));
    for (Py_ssize_t d = 0; d < rank; ++d) found[static_cast<size_t>(d)] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), d));
    return found;
}

// A value as C++ takes it. It is kept until somebody calls `release`; `sizes` must last as long as the result.
EverflowTensor given(int32_t type, nb::object value, const nb::callable& others, std::vector<int64_t>& sizes) {
    EverflowTensor tensor{type, 0, nullptr, nullptr, nullptr, nullptr};
    if (type == STRING) {
        sizes = shape_of(value);
        auto texts = std::make_unique<std::vector<std::string>>();
        const nb::object flat = value.attr("ravel")().attr("tolist")();
        for (nb::handle text : flat) {
            char* at = nullptr;
            Py_ssize_t size = 0;
            if (PyBytes_AsStringAndSize(text.ptr(), &at, &size)) throw nb::python_error();
            texts->emplace_back(at, static_cast<size_t>(size));
        }
        tensor.data = texts->data();
        tensor.owner = texts.release(), tensor.release = drop_texts;
    } else if (type == RESOURCE || type == VARIANT) {
        if (type == VARIANT) value = others("given", nb::none(), value);
        sizes = shape_of(value);
        tensor.data = PyLong_AsVoidPtr(asked(value, names().address).ptr());
        tensor.owner = value.inc_ref().ptr(), tensor.release = drop;
    } else {
        const nb::object dense = nb::steal(PyObject_CallMethodNoArgs(value.ptr(), names().is_contiguous));
        if (!dense.is_valid()) throw nb::python_error();
        if (dense.ptr() != Py_True) {
            value = nb::steal(PyObject_CallMethodNoArgs(value.ptr(), names().contiguous));
            if (!value.is_valid()) throw nb::python_error();
        }
        sizes = shape_of(value);
        tensor.data = address_of(value);
        tensor.owner = value.inc_ref().ptr(), tensor.release = drop;
    }
    tensor.rank = static_cast<int32_t>(sizes.size()), tensor.sizes = sizes.data();
    return tensor;
}

nb::list listed(const EverflowTensor& tensor) {
    nb::list found;
    for (int32_t d = 0; d < tensor.rank; ++d) found.append(tensor.sizes[d]);
    return found;
}

// A tensor of C++'s as a value: a copy, as its memory is C++'s.
nb::object taken(const EverflowTensor& tensor, const nb::callable& others) {
    if (tensor.type == STRING) {
        int64_t count = 1;
        for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.sizes[d];
        nb::list texts;
        const auto* from = static_cast<const std::string*>(tensor.data);
        for (int64_t i = 0; i < count; ++i) texts.append(nb::bytes(from[i].data(), from[i].size()));
        return others("texts", listed(tensor), texts);
    }
    const char* kind = tensor.type == RESOURCE ? "resource" : tensor.type == VARIANT ? "variant" : nullptr;
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    return kind ? others(kind, listed(tensor), address) : others(tensor.type, listed(tensor), address);
}

// One run: what came in, what was made, what went wrong.
struct Run {
    const CustomKernel& kernel;
    std::vector<EverflowTensor> inputs;
    std::vector<std::vector<int64_t>> sizes;
    std::vector<nb::object> made, results;
    std::vector<std::vector<int64_t>> made_sizes;
    std::string message;
    // What Python raised while memory was asked for, or a result was taken.
    std::unique_ptr<nb::python_error> refused;

    explicit Run(const CustomKernel& of)
        : kernel(of), sizes(of.inputs.size()), made(of.outputs.size()), results(of.outputs.size()), made_sizes(of.outputs.size()) {}

    static bool allocate(void* call, int32_t output, EverflowTensor* tensor) {
        Run& run = *static_cast<Run*>(call);
        nb::gil_scoped_acquire held;
        try {
            nb::object made = run.kernel.makers[static_cast<size_t>(output)](listed(*tensor));
            tensor->data = address_of(made);
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
        try {
            nb::object& made = run.made[at];
            if (made.is_valid() && made.ptr() == tensor->owner && address_of(made) == tensor->data) {
                // The memory that was made for this output; a kernel may have given it another shape.
                const bool same = std::equal(tensor->sizes, tensor->sizes + tensor->rank, run.made_sizes[at].begin(), run.made_sizes[at].end());
                run.results[at] = same ? made : run.kernel.others("shaped", listed(*tensor), made);
            } else {
                run.results[at] = taken(*tensor, run.kernel.others);
            }
        } catch (nb::python_error& error) {
            run.refused = std::make_unique<nb::python_error>(std::move(error));
        }
    }

    static void failed(void* call, const char* message) { static_cast<Run*>(call)->message = message; }
};

nb::object CustomKernel::call(const nb::args& values) {
    Run run(*this);
    if (values.size() != inputs.size()) throw nb::type_error("another number of inputs");
    try {
        for (size_t i = 0; i < inputs.size(); ++i) run.inputs.push_back(given(inputs[i], nb::borrow(values[i]), others, run.sizes[i]));
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
    if (run.refused) throw nb::python_error(std::move(*run.refused));
    if (code) return raises(code, nb::str(run.message.c_str(), run.message.size()));
    if (run.results.size() == 1) return run.results[0];
    nb::list all;
    for (const nb::object& result : run.results) all.append(result);
    return nb::tuple(all);
}

// An iterator over a dataset of C++'s.
struct CustomIterator {
    const EverflowIterators* functions;
    void* iterator = nullptr;
    nb::object reading;
    nb::callable raises, others;

    CustomIterator(uintptr_t iterators, uintptr_t dataset, const std::string& prefix, nb::object reader, nb::callable raise, nb::callable other_values)
        : functions(reinterpret_cast<const EverflowIterators*>(iterators)), reading(std::move(reader)), raises(std::move(raise)),
          others(std::move(other_values)) {
        Call call{*this};
        int32_t code;
        {
            nb::gil_scoped_release released;
            code = functions->open(reinterpret_cast<void*>(dataset), prefix.c_str(), reading.ptr(), &iterator, &call, Call::failed);
        }
        call.check(code);
    }

    CustomIterator(const CustomIterator&) = delete;
    void operator=(const CustomIterator&) = delete;
    ~CustomIterator() {
        if (!iterator) return;
        // Its threads may wait for the interpreter.
        nb::gil_scoped_release released;
        functions->release(iterator);
    }

    struct Call {
        const CustomIterator& of;
        nb::list values;
        nb::dict named;
        std::string message;
        std::unique_ptr<nb::python_error> refused;

        explicit Call(const CustomIterator& iterator) : of(iterator) {}

        static void take(void* call, const char* name, int32_t, const EverflowTensor* tensor) {
            Call& to = *static_cast<Call*>(call);
            nb::gil_scoped_acquire held;
            try {
                const nb::object value = taken(*tensor, to.of.others);
                if (*name) {
                    to.named[name] = nb::make_tuple(tensor->type, value);
                } else {
                    to.values.append(value);
                }
            } catch (nb::python_error& error) {
                to.refused = std::make_unique<nb::python_error>(std::move(error));
            }
        }
        static void failed(void* call, const char* message) { static_cast<Call*>(call)->message = message; }
        void check(int32_t code) {
            if (refused) throw nb::python_error(std::move(*refused));
            if (code) of.raises(code, nb::str(message.c_str(), message.size()));
        }
    };

    // The components of the next element; None at the end.
    nb::object next() {
        Call call{*this};
        bool end = false;
        int32_t code;
        {
            nb::gil_scoped_release released;
            code = functions->next(iterator, &end, &call, Call::take, Call::failed);
        }
        call.check(code);
        if (end) return nb::none();
        return nb::tuple(call.values);
    }

    // {name: (type, value)}
    nb::dict save() {
        Call call{*this};
        int32_t code;
        {
            nb::gil_scoped_release released;
            code = functions->save(iterator, &call, Call::take, Call::failed);
        }
        call.check(code);
        return call.named;
    }

    void restore(const nb::dict& position) {
        Call call{*this};
        const size_t count = position.size();
        std::vector<std::string> keys;
        std::vector<const char*> addresses;
        std::vector<std::vector<int64_t>> sizes(count);
        std::vector<EverflowTensor> tensors;
        keys.reserve(count);
        for (auto [key, value] : position) {
            const nb::tuple pair = nb::cast<nb::tuple>(value);
            keys.push_back(nb::cast<std::string>(key));
            tensors.push_back(given(nb::cast<int32_t>(pair[0]), nb::borrow(pair[1]), others, sizes[tensors.size()]));
            addresses.push_back(keys.back().c_str());
        }
        int32_t code;
        {
            nb::gil_scoped_release released;
            code = functions->restore(iterator, addresses.data(), tensors.data(), static_cast<int32_t>(count), &call, Call::failed);
        }
        call.check(code);
    }
};

// What Python raised, as a code and words.
int32_t status_of(nb::python_error& error, void* call, EverflowFailed failed) {
    const nb::object value = nb::borrow(error.value());
    const bool is_known = nb::hasattr(value, "error_code") && nb::hasattr(value, "message");
    failed(call, nb::cast<std::string>(nb::str(is_known ? nb::object(value.attr("message")) : value)).c_str());
    constexpr int32_t UNKNOWN = 2;
    return is_known ? nb::cast<int32_t>(value.attr("error_code")) : UNKNOWN;
}

template <typename Work>
int32_t in_python(void* call, EverflowFailed failed, const Work& work) {
    nb::gil_scoped_acquire held;
    try {
        work();
        return 0;
    } catch (nb::python_error& error) {
        return status_of(error, call, failed);
    }
}

int32_t stream_open(void* stream, void* reader, void** cursor, void* call, EverflowFailed failed) {
    return in_python(call, failed, [&] { *cursor = nb::handle(static_cast<PyObject*>(stream)).attr("open")(nb::handle(static_cast<PyObject*>(reader))).release().ptr(); });
}

int32_t stream_next(void* cursor, const int32_t* types, int32_t count, bool* end, void* call, EverflowTake take, EverflowFailed failed) {
    return in_python(call, failed, [&] {
        const nb::handle of(static_cast<PyObject*>(cursor));
        const nb::object element = of.attr("next")();
        *end = element.is_none();
        if (*end) return;
        const nb::callable others = nb::cast<nb::callable>(of.attr("others"));
        for (int32_t i = 0; i < count; ++i) {
            std::vector<int64_t> sizes;
            const EverflowTensor tensor = given(types[i], nb::borrow(element[i]), others, sizes);
            take(call, "", i, &tensor);
        }
    });
}

int32_t stream_save(void* cursor, void* call, void (*take)(void*, const char*, int64_t), EverflowFailed failed) {
    return in_python(call, failed, [&] {
        const nb::bytes text = nb::cast<nb::bytes>(nb::handle(static_cast<PyObject*>(cursor)).attr("save")());
        take(call, text.c_str(), static_cast<int64_t>(text.size()));
    });
}

int32_t stream_restore(void* cursor, const char* text, int64_t size, void* call, EverflowFailed failed) {
    return in_python(call, failed, [&] { nb::handle(static_cast<PyObject*>(cursor)).attr("restore")(nb::bytes(text, static_cast<size_t>(size))); });
}

int64_t stream_count(void* stream) {
    nb::gil_scoped_acquire held;
    return nb::cast<int64_t>(nb::handle(static_cast<PyObject*>(stream)).attr("count")());
}

constexpr EverflowStreams STREAMS = {stream_open, stream_next, stream_save, stream_restore, stream_count, drop};

}  // namespace

void add_custom_ops(nb::module_& module) {
    nb::class_<CustomKernel>(module, "CustomKernel", "A kernel of a library of custom ops, called with run-time values.")
        .def(nb::init<uintptr_t, uintptr_t, uintptr_t, std::vector<int32_t>, std::vector<int32_t>, nb::list, nb::callable, nb::callable>(), nb::arg("kernel"),
             nb::arg("compute"), nb::arg("release"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("makers"), nb::arg("raises"), nb::arg("others"))
        .def("__call__", &CustomKernel::call);
    nb::class_<CustomIterator>(module, "CustomIterator", "An iterator over a dataset of a library of custom ops.")
        .def(nb::init<uintptr_t, uintptr_t, const std::string&, nb::object, nb::callable, nb::callable>(), nb::arg("iterators"), nb::arg("dataset"), nb::arg("prefix"),
             nb::arg("reading"), nb::arg("raises"), nb::arg("others"))
        .def("next", &CustomIterator::next, nb::sig("def next(self) -> tuple | None"))
        .def("save", &CustomIterator::save)
        .def("restore", &CustomIterator::restore, nb::arg("position"));
    module.def("custom_streams", [] { return reinterpret_cast<uintptr_t>(&STREAMS); }, "How C++ reads streams: the address of EverflowStreams.");
}

}  // namespace everflow
