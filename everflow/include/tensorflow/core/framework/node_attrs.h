// The attributes of a node that a kernel is made for: each a number, a text, a type, a shape, a tensor, or a list of such.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NODE_ATTRS_H_
#define TENSORFLOW_CORE_FRAMEWORK_NODE_ATTRS_H_

#include <map>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace tensorflow {

struct NodeAttr {
    bool is_list = false;
    // Truth values are numbers, and names of functions texts.
    bool is_bool = false, is_function = false;
    // One of these is filled.
    std::vector<int64> integers;
    std::vector<double> floats;
    std::vector<std::string> texts;
    std::vector<DataType> types;
    std::vector<PartialTensorShape> shapes;
    std::vector<Tensor> tensors;
};

// The attributes of a node, read with the types that the caller's variables have.
class AttrValues {
public:
    bool has(StringPiece name) const { return values_.count(std::string(name)) != 0; }
    NodeAttr& add(const std::string& name) { return values_[name]; }
    const std::map<std::string, NodeAttr>& all() const { return values_; }
    const NodeAttr* find(StringPiece name) const {
        const auto at = values_.find(std::string(name));
        return at == values_.end() ? nullptr : &at->second;
    }

    template <typename T>
    Status get(StringPiece name, T* value) const {
        const NodeAttr* found = find(name);
        if (!found) return errors::NotFound("No attr named '", name, "' in NodeDef:");
        std::vector<T> all;
        read(*found, &all);
        if (all.size() != 1) return wrong(name);
        *value = all[0];
        return Status::OK();
    }
    template <typename T>
    Status get(StringPiece name, std::vector<T>* values) const {
        const NodeAttr* found = find(name);
        if (!found) return errors::NotFound("No attr named '", name, "' in NodeDef:");
        if (!found->is_list) return wrong(name);
        read(*found, values);
        return Status::OK();
    }

private:
    static Status wrong(StringPiece name) { return errors::InvalidArgument("AttrValue of '", name, "' has another type than is asked for"); }

    template <typename From, typename To>
    static void copy(const std::vector<From>& from, std::vector<To>* to) {
        to->clear();
        for (const From& value : from) to->push_back(static_cast<To>(value));
    }
    static void read(const NodeAttr& from, std::vector<int64>* to) { *to = from.integers; }
    static void read(const NodeAttr& from, std::vector<int32>* to) { copy(from.integers, to); }
    static void read(const NodeAttr& from, std::vector<bool>* to) { copy(from.integers, to); }
    static void read(const NodeAttr& from, std::vector<float>* to) { copy(from.floats, to); }
    static void read(const NodeAttr& from, std::vector<double>* to) { *to = from.floats; }
    static void read(const NodeAttr& from, std::vector<std::string>* to) { *to = from.texts; }
    static void read(const NodeAttr& from, std::vector<DataType>* to) { *to = from.types; }
    static void read(const NodeAttr& from, std::vector<PartialTensorShape>* to) { *to = from.shapes; }
    static void read(const NodeAttr& from, std::vector<Tensor>* to) { *to = from.tensors; }
    static void read(const NodeAttr& from, std::vector<TensorShape>* to) {
        to->clear();
        for (const PartialTensorShape& partial : from.shapes) {
            TensorShape shape;
            if (partial.AsTensorShape(&shape)) to->push_back(shape);
        }
    }

    std::map<std::string, NodeAttr> values_;
};

}  // namespace tensorflow

#endif
