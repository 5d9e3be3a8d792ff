// A view of elements that stand side by side.
#ifndef TENSORFLOW_CORE_LIB_GTL_ARRAY_SLICE_H_
#define TENSORFLOW_CORE_LIB_GTL_ARRAY_SLICE_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace tensorflow {
namespace gtl {

template <typename T>
class ArraySlice {
public:
    typedef T value_type;

    ArraySlice() : data_(nullptr), size_(0) {}
    ArraySlice(const T* data, size_t size) : data_(data), size_(size) {}
    ArraySlice(const std::vector<T>& all) : data_(all.data()), size_(all.size()) {}
    // What the braces hold lives as long as the call that it is written in.
    ArraySlice(std::initializer_list<T> all) : data_(first_of(all)), size_(all.size()) {}
    template <size_t N>
    ArraySlice(const T (&all)[N]) : data_(all), size_(N) {}

    const T* data() const { return data_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    const T& operator[](size_t i) const { return data_[i]; }
    const T& front() const { return data_[0]; }
    const T& back() const { return data_[size_ - 1]; }

private:
    static const T* first_of(const std::initializer_list<T>& all) { return all.begin(); }

    const T* data_;
    size_t size_;
};

template <typename T, int N = 4>
using InlinedVector = std::vector<T>;

}  // namespace gtl
}  // namespace tensorflow

#endif
