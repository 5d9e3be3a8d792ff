// A view of characters that somebody else keeps.
#ifndef TENSORFLOW_CORE_LIB_CORE_STRINGPIECE_H_
#define TENSORFLOW_CORE_LIB_CORE_STRINGPIECE_H_

#include <algorithm>
#include <cstring>
#include <ostream>
#include <string>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

class StringPiece {
public:
    typedef size_t size_type;
    static const size_t npos = static_cast<size_t>(-1);

    StringPiece() : data_(""), size_(0) {}
    StringPiece(const char* text) : data_(text), size_(std::strlen(text)) {}
    StringPiece(const char* text, size_t size) : data_(text), size_(size) {}
    StringPiece(const std::string& text) : data_(text.data()), size_(text.size()) {}

    const char* data() const { return data_; }
    size_t size() const { return size_; }
    size_t length() const { return size_; }
    bool empty() const { return size_ == 0; }
    const char* begin() const { return data_; }
    const char* end() const { return data_ + size_; }
    char operator[](size_t i) const { return data_[i]; }
    StringPiece substr(size_t from, size_t count = npos) const {
        from = std::min(from, size_);
        return StringPiece(data_ + from, std::min(count, size_ - from));
    }
    void remove_prefix(size_t n) { data_ += n, size_ -= n; }
    void remove_suffix(size_t n) { size_ -= n; }
    size_t find(char c, size_t from = 0) const {
        for (size_t i = from; i < size_; ++i)
            if (data_[i] == c) return i;
        return npos;
    }
    explicit operator std::string() const { return std::string(data_, size_); }
    std::string ToString() const { return std::string(data_, size_); }

private:
    const char* data_;
    size_t size_;
};

inline bool operator==(StringPiece a, StringPiece b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0; }
inline bool operator!=(StringPiece a, StringPiece b) { return !(a == b); }
inline bool operator<(StringPiece a, StringPiece b) { return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()); }
inline std::ostream& operator<<(std::ostream& out, StringPiece text) { return out.write(text.data(), static_cast<std::streamsize>(text.size())); }

}  // namespace tensorflow

#endif
