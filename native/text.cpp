// Arrays of bytes objects are read and written through the buffer protocol, as arrays of object pointers.
#include "text.h"

#include <cstring>

namespace nb = nanobind;

namespace everflow {
namespace {

class Buffer {
  public:
    explicit Buffer(nb::handle array) {
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FORMAT | PyBUF_ND | PyBUF_C_CONTIGUOUS)) throw nb::python_error();
    }
    ~Buffer() { PyBuffer_Release(&view_); }
    Buffer(const Buffer&) = delete;

    void* bytes() const { return view_.buf; }
    size_t count() const { return static_cast<size_t>(view_.len / view_.itemsize); }

    PyObject** objects() const {
        if (view_.format == nullptr || view_.format[0] != 'O') throw nb::type_error("expected an array of bytes objects");
        return static_cast<PyObject**>(view_.buf);
    }

  private:
    Py_buffer view_;
};

// numpy.empty(shape, type)
nb::object new_array(const std::vector<size_t>& shape, char type) {
    // Kept for the life of the process: when static objects end there may be no interpreter any more.
    static const nb::object& empty = *new nb::object(nb::module_::import_("numpy").attr("empty"));
    nb::object sizes = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
    for (size_t i = 0; i < shape.size(); ++i) PyTuple_SET_ITEM(sizes.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSize_t(shape[i]));
    return empty(sizes, nb::str(&type, 1));
}

}  // namespace

Views views_of(nb::handle array) {
    const Buffer buffer(array);
    PyObject** const items = buffer.objects();
    Views views(buffer.count());
    for (size_t i = 0; i < views.size(); ++i) {
        if (!PyBytes_Check(items[i])) throw nb::type_error("expected a bytes object");
        views[i] = {PyBytes_AS_STRING(items[i]), static_cast<size_t>(PyBytes_GET_SIZE(items[i]))};
    }
    return views;
}

nb::object text_array(const std::string_view* views, size_t count, const std::vector<size_t>& shape) {
    nb::object array = new_array(shape, 'O');
    const Buffer buffer(array);
    PyObject** const items = buffer.objects();
    for (size_t i = 0; i < count; ++i) {
        PyObject* const item = PyBytes_FromStringAndSize(views[i].data(), static_cast<Py_ssize_t>(views[i].size()));
        if (item == nullptr) throw nb::python_error();
        PyObject* const before = items[i];
        items[i] = item;
        Py_XDECREF(before);
    }
    return array;
}

nb::object copied_array(const void* from, size_t bytes, const std::vector<size_t>& shape, char type) {
    nb::object array = new_array(shape, type);
    if (bytes) std::memcpy(Buffer(array).bytes(), from, bytes);
    return array;
}

void raise_invalid_argument(const std::string& message) {
    // Messages quote data, which need not be UTF-8.
    const auto text = nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
    const nb::object error = nb::module_::import_("everflow.errors").attr("invalid_argument")(text);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw nb::python_error();
}

}  // namespace everflow
