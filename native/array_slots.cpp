// What arrays of numpy once answered where they raise an error today: an array is not equal to what it can't be broadcast with, an
// empty one is false, and a list of slices is an index as their tuple is. Operators are looked up in the slots of a type, which Python code can't set for types that are written in C.
#include "array_slots.h"

namespace nb = nanobind;

namespace everflow {

namespace {

richcmpfunc compare_today = nullptr;
inquiry truth_today = nullptr;
binaryfunc item_today = nullptr;
objobjargproc assign_today = nullptr;
PyObject* tell = nullptr;

// Whether an error stands for an answer of once: then it is forgotten and the program told, which may raise another.
bool answers(const char* what) {
    PyErr_Clear();
    PyObject* told = PyObject_CallFunction(tell, "s", what);
    Py_XDECREF(told);
    return told != nullptr;
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
    PyObject* found = compare_today(a, b, op);
    if (found || (op != Py_EQ && op != Py_NE) || !PyErr_ExceptionMatches(PyExc_ValueError)) return found;
    // The other operand is asked next; where it does not know either, only what is the same is equal.
    return answers("compare") ? Py_NewRef(Py_NotImplemented) : nullptr;
}

bool is_empty(PyObject* array) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject* size = PyObject_GetAttrString(array, "size");
    const bool empty = size && PyLong_Check(size) && PyLong_AsLong(size) == 0;
    Py_XDECREF(size);
    PyErr_Restore(type, value, trace);
    return empty;
}

int truth(PyObject* array) {
    const int found = truth_today(array);
    if (found >= 0 || !PyErr_ExceptionMatches(PyExc_ValueError) || !is_empty(array)) return found;
    return answers("truth") ? 0 : -1;
}

// The tuple that an index that was refused once stood for: that of a list with slices in it. Without one the error stays.
PyObject* as_tuple(PyObject* index) {
    if (!PyList_CheckExact(index) || !PyErr_ExceptionMatches(PyExc_IndexError)) return nullptr;
    bool with_slices = false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
        PyObject* item = PyList_GET_ITEM(index, i);
        with_slices = with_slices || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None;
    }
    return with_slices && answers("index") ? PyList_AsTuple(index) : nullptr;
}

PyObject* item(PyObject* array, PyObject* index) {
    PyObject* found = item_today(array, index);
    PyObject* meant = found ? nullptr : as_tuple(index);
    if (meant) {
        found = item_today(array, meant);
        Py_DECREF(meant);
    }
    return found;
}

int assign(PyObject* array, PyObject* index, PyObject* value) {
    int failed = assign_today(array, index, value);
    PyObject* meant = failed ? as_tuple(index) : nullptr;
    if (meant) {
        failed = assign_today(array, meant, value);
        Py_DECREF(meant);
    }
    return failed;
}

// A slot of a type that has what stood there before gets what is to stand there now.
template <typename Slot>
void put(Slot& slot, Slot before, Slot now) {
    if (slot == before) slot = now;
}

void exchange(const nb::list& types, bool once) {
    for (nb::handle each : types) {
        auto* type = reinterpret_cast<PyTypeObject*>(each.ptr());
        put<richcmpfunc>(type->tp_richcompare, once ? compare_today : compare, once ? compare : compare_today);
        if (auto* number = type->tp_as_number) put<inquiry>(number->nb_bool, once ? truth_today : truth, once ? truth : truth_today);
        if (auto* mapping = type->tp_as_mapping) {
            put<binaryfunc>(mapping->mp_subscript, once ? item_today : item, once ? item : item_today);
            put<objobjargproc>(mapping->mp_ass_subscript, once ? assign_today : assign, once ? assign : assign_today);
        }
    }
}

}  // namespace

void add_array_slots(nb::module_& module) {
    module.def(
        "answer_as_once",
        [](const nb::list& types, nb::callable told) {
            auto* array = reinterpret_cast<PyTypeObject*>(types[0].ptr());
            if (array->tp_richcompare == compare) return;
            compare_today = array->tp_richcompare;
            truth_today = array->tp_as_number->nb_bool;
            item_today = array->tp_as_mapping->mp_subscript;
            assign_today = array->tp_as_mapping->mp_ass_subscript;
            Py_XSETREF(tell, told.release().ptr());
            exchange(types, true);
        },
        nb::arg("types"), nb::arg("tell"),
        "Lets these types of arrays, of which the first has no other above it, answer where they raise an error; tell(what) hears of it.");
    module.def(
        "answer_as_today", [](const nb::list& types) { exchange(types, false); }, nb::arg("types"),
        "Undoes it.");
}

}  // namespace everflow
