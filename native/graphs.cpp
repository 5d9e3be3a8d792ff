// The nodes of graphs, read from their messages faster than field by field.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "text.h"
#include "wire.h"

namespace everflow {
namespace {

namespace nb = nanobind;

// Attributes of more bytes than this are not worth comparing: they hold a tensor of their own.
constexpr size_t kComparable = 2048;

nb::str str_of(std::string_view text) { return nb::str(text.data(), text.size()); }

// A NodeDef's name, op, inputs and device, and its attributes as bytes that are equal for nodes with equal attributes (None for large
// ones).
nb::tuple split_node(const nb::bytes& message) {
    enum : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5 };
    std::string_view name, op, device, value;
    nb::list inputs;
    std::vector<std::string_view> attrs;
    size_t size = 0;
    Reader reader({message.c_str(), message.size()});
    while (!reader.done()) {
        uint32_t tag;
        if (!reader.tag(tag)) throw std::invalid_argument("Malformed NodeDef");
        if ((tag & 7) != kBytes) {
            if (!reader.skip(tag)) throw std::invalid_argument("Malformed NodeDef");
            continue;
        }
        if (!reader.bytes(value)) throw std::invalid_argument("Malformed NodeDef");
        switch (tag >> 3) {
            case kName: name = value; break;
            case kOp: op = value; break;
            case kInput: inputs.append(str_of(value)); break;
            case kDevice: device = value; break;
            case kAttr:
                attrs.push_back(value);
                size += value.size();
                break;
            default: break;
        }
    }
    nb::object key = nb::none();
    if (size <= kComparable) {
        std::sort(attrs.begin(), attrs.end());
        std::string joined;
        joined.reserve(size + attrs.size() * sizeof(size_t));
        for (const auto& attr : attrs) {
            const size_t length = attr.size();
            joined.append(reinterpret_cast<const char*>(&length), sizeof length).append(attr);
        }
        key = nb::bytes(joined.data(), joined.size());
    }
    return nb::make_tuple(str_of(name), str_of(op), inputs, str_of(device), key);
}

}  // namespace

void add_graphs(nb::module_& module) { module.def("split_node", &split_node, nb::arg("message")); }

}  // namespace everflow
