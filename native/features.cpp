#include "features.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "wire.h"

namespace nb = nanobind;

namespace everflow {
namespace {

template <typename T>
struct Room {
    T* out;
    size_t room;
    size_t count = 0;

    void put(T value) {
        if (count < room) out[count] = value;
        ++count;
    }
    void put_words(const char* words, size_t n) {
        if (count < room) std::memcpy(out + count, words, sizeof(T) * std::min(n, room - count));
        count += n;
    }
};

template <typename T>
struct Growing {
    std::vector<T>& out;

    void put(T value) { out.push_back(value); }
    void put_words(const char* words, size_t n) {
        const size_t before = out.size();
        out.resize(before + n);
        std::memcpy(out.data() + before, words, sizeof(T) * n);
    }
};

// Each list is `repeated ... value = 1`; numbers may be packed or not.
template <typename Sink>
bool scan_floats(std::string_view list, Sink& sink) {
    Reader reader(list);
    uint32_t tag;
    std::string_view packed;
    const char* word;
    while (!reader.done()) {
        if (!reader.tag(tag)) return false;
        if (tag == tag_of(1, kBytes)) {
            if (!reader.bytes(packed) || packed.size() % 4) return false;
            sink.put_words(packed.data(), packed.size() / 4);
        } else if (tag == tag_of(1, kFixed32)) {
            if (!reader.fixed(4, word)) return false;
            sink.put_words(word, 1);
        } else if (!reader.skip(tag)) {
            return false;
        }
    }
    return true;
}

template <typename Sink>
bool scan_integers(std::string_view list, Sink& sink) {
    Reader reader(list);
    uint32_t tag;
    std::string_view packed;
    uint64_t number;
    while (!reader.done()) {
        if (!reader.tag(tag)) return false;
        if (tag == tag_of(1, kBytes)) {
            if (!reader.bytes(packed)) return false;
            for (Reader numbers(packed); !numbers.done();) {
                if (!numbers.varint(number)) return false;
                sink.put(static_cast<int64_t>(number));
            }
        } else if (tag == tag_of(1, kVarint)) {
            if (!reader.varint(number)) return false;
            sink.put(static_cast<int64_t>(number));
        } else if (!reader.skip(tag)) {
            return false;
        }
    }
    return true;
}

template <typename Sink>
bool scan_texts(std::string_view list, Sink& sink) {
    return for_each_bytes(list, 1, [&](std::string_view text) {
        sink.put(text);
        return true;
    });
}

DataType list_type(uint32_t tag) {
    switch (tag) {
        case tag_of(1, kBytes): return kString;
        case tag_of(2, kBytes): return kFloat;
        case tag_of(3, kBytes): return kInt64;
        default: return kNone;
    }
}

std::string shown(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
    if (std::strtof(text, nullptr) != value) std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
}

std::string shown(int64_t value) { return std::to_string(value); }

std::string shown(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
        if (c == '\n') {
            text += "\\n";
        } else if (c == '\r') {
            text += "\\r";
        } else if (c == '\t') {
            text += "\\t";
        } else if (c == '"' || c == '\'' || c == '\\') {
            text += {'\\', c};
        } else if (static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) >= 0x7f) {
            char octal[8];
            std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<uint8_t>(c)));
            text += octal;
        } else {
            text += c;
        }
    }
    return text + '"';
}

}  // namespace

bool read_feature(std::string_view message, Feature& feature) {
    feature = {};
    Reader reader(message);
    uint32_t tag;
    while (!reader.done()) {
        if (!reader.tag(tag)) return false;
        const DataType type = list_type(tag);
        if (type == kNone) {
            if (!reader.skip(tag)) return false;
        } else if (feature.type = type; !reader.bytes(feature.list)) {
            return false;
        }
    }
    return true;
}

std::string described(const Feature& feature) {
    if (feature.type == kNone) return {};
    std::string text = std::string(list_name(feature.type)) + "_list {\n";
    Values values = values_of_type(feature.type);
    std::visit(
        [&](auto& found) {
            append_values(feature.list, found);
            for (const auto& value : found) text += "  value: " + shown(value) + "\n";
        },
        values);
    return text + "}\n";
}

const char* type_name(DataType type) {
    switch (type) {
        case kFloat: return "float";
        case kInt64: return "int64";
        case kString: return "string";
        default: return "invalid";
    }
}

const char* list_name(DataType type) { return type == kString ? "bytes" : type_name(type); }

bool copy_values(std::string_view list, float* out, size_t room, size_t& count) {
    Room<float> sink{out, room};
    const bool is_whole = scan_floats(list, sink);
    count = sink.count;
    return is_whole;
}

bool copy_values(std::string_view list, int64_t* out, size_t room, size_t& count) {
    Room<int64_t> sink{out, room};
    const bool is_whole = scan_integers(list, sink);
    count = sink.count;
    return is_whole;
}

bool copy_values(std::string_view list, std::string_view* out, size_t room, size_t& count) {
    Room<std::string_view> sink{out, room};
    const bool is_whole = scan_texts(list, sink);
    count = sink.count;
    return is_whole;
}

bool append_values(std::string_view list, std::vector<float>& out) {
    Growing<float> sink{out};
    return scan_floats(list, sink);
}

bool append_values(std::string_view list, std::vector<int64_t>& out) {
    Growing<int64_t> sink{out};
    return scan_integers(list, sink);
}

bool append_values(std::string_view list, Views& out) {
    Growing<std::string_view> sink{out};
    return scan_texts(list, sink);
}

Values values_of_type(DataType type) {
    if (type == kFloat) return std::vector<float>();
    if (type == kInt64) return std::vector<int64_t>();
    return Views();
}

size_t size_of(const Values& values) {
    return std::visit([](const auto& found) { return found.size(); }, values);
}

AnyBlock block_of_type(DataType type, size_t size) {
    if (type == kFloat) return Block<float>(size);
    if (type == kInt64) return Block<int64_t>(size);
    return Block<std::string_view>(size);
}

nb::object to_array(AnyBlock& block, const std::vector<size_t>& shape) {
    return std::visit(
        [&](auto& found) -> nb::object {
            using T = std::remove_reference_t<decltype(found.data[0])>;
            if constexpr (std::is_same_v<T, std::string_view>) {
                return text_array(found.data.get(), found.size, shape);
            } else {
                return number_array(std::move(found.data), shape);
            }
        },
        block);
}

Default::Default(DataType type, nb::handle array) : values_(values_of_type(type)) {
    if (array.is_none()) return;
    if (type == kString) {
        for (const std::string_view text : views_of(array)) texts_.emplace_back(text);
        // Short strings lie inside their objects, so that views are taken when these have found their place.
        std::get<Views>(values_).assign(texts_.begin(), texts_.end());
    } else if (type == kFloat) {
        const auto numbers = nb::cast<nb::ndarray<const float, nb::c_contig, nb::device::cpu>>(array);
        std::get<std::vector<float>>(values_).assign(numbers.data(), numbers.data() + numbers.size());
    } else {
        const auto numbers = nb::cast<nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>>(array);
        std::get<std::vector<int64_t>>(values_).assign(numbers.data(), numbers.data() + numbers.size());
    }
}

void Default::fill(AnyBlock& block, size_t start, size_t stop) const {
    std::visit(
        [&](auto& out) {
            using T = std::remove_reference_t<decltype(out.data[0])>;
            const auto& values = std::get<std::vector<T>>(values_);
            if (values.size() == 1 || values.empty()) {
                std::fill(out.data.get() + start, out.data.get() + stop, values.empty() ? T{} : values[0]);
            } else {
                std::copy_n(values.begin(), std::min(values.size(), stop - start), out.data.get() + start);
            }
        },
        block);
}

std::vector<std::string> names_in(const nb::list& sparse, const nb::list& dense) {
    std::vector<std::string> names;
    for (const nb::list& list : {sparse, dense}) {
        for (const nb::handle description : list) names.push_back(nb::cast<std::string>(nb::cast<nb::tuple>(description)[0]));
    }
    return names;
}

DataType type_in(const nb::tuple& description) { return static_cast<DataType>(nb::cast<int>(description[1])); }

Names::Names(std::vector<std::string> names) : names_(std::move(names)) {
    for (size_t i = 0; i < names_.size(); ++i) indices_.emplace(names_[i], static_cast<int>(i));
}

int Names::find(std::string_view name) const {
    const auto found = indices_.find(name);
    return found == indices_.end() ? kUnknown : found->second;
}

bool read_entries(std::string_view message, NameFinder& finder, std::vector<std::string_view>& found, std::vector<bool>& present) {
    return for_each_bytes(message, 1, [&](std::string_view entry) {
        std::string_view name, value;
        Reader reader(entry);
        uint32_t tag;
        while (!reader.done()) {
            if (!reader.tag(tag)) return false;
            if (tag == tag_of(1, kBytes)) {
                if (!reader.bytes(name)) return false;
            } else if (tag == tag_of(2, kBytes)) {
                if (!reader.bytes(value)) return false;
            } else if (!reader.skip(tag)) {
                return false;
            }
        }
        const int index = finder.find(name);
        if (index != Names::kUnknown) {
            found[static_cast<size_t>(index)] = value;
            present[static_cast<size_t>(index)] = true;
        }
        return true;
    });
}

}  // namespace everflow
