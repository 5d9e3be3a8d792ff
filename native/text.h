// Strings as Everflow holds them at run time, numpy arrays of bytes objects, and what the native code on them shares.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace everflow {

using Views = std::vector<std::string_view>;

// The functions below that take or make Python objects need the interpreter's lock.

// What an array of bytes objects holds, in row order. The array must outlive the views.
Views views_of(nanobind::handle array);

// A new array of bytes objects with these contents.
nanobind::object text_array(const std::string_view* views, size_t count, const std::vector<size_t>& shape);

// Raises tf.errors.InvalidArgumentError.
[[noreturn]] void raise_invalid_argument(const std::string& message);

template <typename T>
constexpr char type_character() {
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? 'f' : 'd';
    return sizeof(T) == 4 ? 'i' : 'q';
}

// A new numpy array with a copy of the bytes; `type` is numpy's character of the element type.
nanobind::object copied_array(const void* from, size_t bytes, const std::vector<size_t>& shape, char type);

// A numpy array that takes over the numbers.
template <typename T>
nanobind::object number_array(std::unique_ptr<T[]> numbers, const std::vector<size_t>& shape) {
    size_t bytes = sizeof(T);
    for (const size_t size : shape) bytes *= size;
    // An array of numpy's own costs less to make than one around memory of ours.
    constexpr size_t kSmall = 4096;
    if (bytes <= kSmall) return copied_array(numbers.get(), bytes, shape, type_character<T>());
    T* const data = numbers.release();
    nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.data(), owner));
}

void add_hashes(nanobind::module_& module);
void add_numbers(nanobind::module_& module);
void add_csv(nanobind::module_& module);
void add_examples(nanobind::module_& module);
void add_sequence_examples(nanobind::module_& module);
void add_records(nanobind::module_& module);
void add_graphs(nanobind::module_& module);

}  // namespace everflow
