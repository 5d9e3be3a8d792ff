#include "numbers.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "text.h"

namespace nb = nanobind;

namespace everflow {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

std::string_view stripped(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_word(std::string_view text, const char* word) {
    if (text.size() != 3) return false;
    for (int i = 0; i < 3; ++i) {
        if ((text[i] | 32) != word[i]) return false;
    }
    return true;
}

// A decimal number without its sign: digits * 10^exponent. `exact`: all digits fit.
struct Decimal {
    uint64_t digits = 0;
    int exponent = 0;
    bool exact = true;
};

bool scan(std::string_view text, Decimal& found) {
    constexpr uint64_t kRoom = (std::numeric_limits<uint64_t>::max() - 9) / 10;
    size_t i = 0, count = 0;
    const auto take = [&](int scale) {
        for (; i < text.size() && is_digit(text[i]); ++i, ++count) {
            if (found.digits > kRoom) {
                found.exact = false;
            } else {
                found.digits = found.digits * 10 + static_cast<uint64_t>(text[i] - '0');
                found.exponent -= scale;
            }
        }
    };
    take(0);
    if (i < text.size() && text[i] == '.') {
        ++i;
        take(1);
    }
    if (count == 0) return false;
    if (i == text.size()) return true;
    if ((text[i++] | 32) != 'e') return false;
    int sign = 1, exponent = 0;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) sign = text[i++] == '-' ? -1 : 1;
    if (i == text.size()) return false;
    for (; i < text.size(); ++i) {
        if (!is_digit(text[i])) return false;
        if (exponent < 100000) exponent = exponent * 10 + (text[i] - '0');
    }
    found.exponent += sign * exponent;
    return true;
}

// The C library's slower conversion, which rounds any number rightly.
template <typename T>
T converted(std::string_view text) {
    const std::string ended(text);
    if constexpr (sizeof(T) == 4) {
        return std::strtof(ended.c_str(), nullptr);
    } else {
        return std::strtod(ended.c_str(), nullptr);
    }
}

// Whether rounding a double to a float rounds a second time at the middle between two floats.
bool is_midway(double number) {
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return (bits & 0x1fffffff) == 0x10000000;
}

template <typename T>
bool read_float(std::string_view text, T& number) {
    if (text.empty()) return false;
    text = stripped(text);
    if (text.empty()) {
        number = 0;
        return true;
    }
    const bool negative = text[0] == '-';
    if (negative || text[0] == '+') text.remove_prefix(1);
    T size;
    Decimal decimal;
    if (text.size() > 2 && text[0] == '0' && (text[1] | 32) == 'x') {
        for (size_t i = 2; i < text.size(); ++i) {
            if (!is_hex(text[i])) return false;
        }
        size = converted<T>(text);
    } else if (scan(text, decimal)) {
        // Both factors are exact doubles, so that one rounding is all there is.
        static constexpr double kTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        const int exponent = decimal.exponent;
        const bool simple = decimal.exact && decimal.digits <= uint64_t{1} << 53 && exponent >= -22 && exponent <= 22;
        const double digits = static_cast<double>(decimal.digits);
        const double product = !simple ? 0 : exponent < 0 ? digits / kTens[-exponent] : digits * kTens[exponent];
        size = simple && (sizeof(T) == 8 || !is_midway(product)) ? static_cast<T>(product) : converted<T>(text);
    } else if (is_word(text, "inf")) {
        size = std::numeric_limits<T>::infinity();
    } else if (is_word(text, "nan")) {
        size = std::numeric_limits<T>::quiet_NaN();
    } else {
        return false;
    }
    number = negative ? -size : size;
    return true;
}

template <typename T>
bool read_integer(std::string_view text, T& number) {
    text = stripped(text);
    const bool negative = !text.empty() && text[0] == '-';
    if (negative) text.remove_prefix(1);
    if (text.empty()) return false;
    // Counting down from zero reaches the lowest number too.
    T value = 0;
    for (const char c : text) {
        if (!is_digit(c)) return false;
        if (value < std::numeric_limits<T>::min() / 10) return false;
        value *= 10;
        const T digit = c - '0';
        if (value < std::numeric_limits<T>::min() + digit) return false;
        value -= digit;
    }
    if (!negative && value == std::numeric_limits<T>::min()) return false;
    number = negative ? value : -value;
    return true;
}

// Fills the array; the index of the first text that is no number, or -1.
template <typename T>
int64_t read_numbers(nb::handle texts, nb::ndarray<T, nb::c_contig, nb::device::cpu> out) {
    const Views views = views_of(texts);
    if (views.size() != out.size()) throw nb::value_error("there must be a place for each number");
    T* const numbers = out.data();
    nb::gil_scoped_release unlocked;
    for (size_t i = 0; i < views.size(); ++i) {
        if (!read_number(views[i], numbers[i])) return static_cast<int64_t>(i);
    }
    return -1;
}

}  // namespace

bool read_number(std::string_view text, float& number) { return read_float(text, number); }
bool read_number(std::string_view text, double& number) { return read_float(text, number); }
bool read_number(std::string_view text, int32_t& number) { return read_integer(text, number); }
bool read_number(std::string_view text, int64_t& number) { return read_integer(text, number); }

void add_numbers(nb::module_& module) {
    module.def("read_numbers", read_numbers<float>, nb::arg("texts"), nb::arg("out").noconvert());
    module.def("read_numbers", read_numbers<double>, nb::arg("texts"), nb::arg("out").noconvert());
    module.def("read_numbers", read_numbers<int32_t>, nb::arg("texts"), nb::arg("out").noconvert());
    module.def("read_numbers", read_numbers<int64_t>, nb::arg("texts"), nb::arg("out").noconvert());
}

}  // namespace everflow
