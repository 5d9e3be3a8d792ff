// What arrays of numpy once answered where they raise an error today: an array is not equal to what it can't be broadcast with, and an
// empty one is false. Operators are looked up in the slots of a type, which Python code can't set for types that are written in C.
#include "array_slots.h"

namespace nb = nanobind;

namespace everflow {

namespace {

richcmpfunc compare_today = nullptr;
inquiry truth_today = nullptr;
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

void exchange(const nb::list& types, richcmpfunc compare_before, richcmpfunc compare_now, inquiry truth_before, inquiry truth_now) {
    for (nb::handle each : types) {
        auto* type = reinterpret_cast<PyTypeObject*>(each.ptr());
        if (type->tp_richcompare == compare_before) type->tp_richcompare = compare_now;
        if (type->tp_as_number && type->tp_as_number->nb_bool == truth_before) type->tp_as_number->nb_bool = truth_now;
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
            Py_XSETREF(tell, told.release().ptr());
            exchange(types, compare_today, compare, truth_today, truth);
        },
        nb::arg("types"), nb::arg("tell"),
        "Lets these types of arrays, of which the first has no other above it, answer where they raise an error; tell(what) hears of it.");
    module.def(
        "answer_as_today", [](const nb::list& types) { exchange(types, compare, compare_today, truth, truth_today); }, nb::arg("types"),
        "Undoes it.");
}

}  // namespace everflow
