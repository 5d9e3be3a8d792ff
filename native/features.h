// The Feature messages of tf.train.Example and SequenceExample: what they hold, and how it is collected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "data_types.h"
#include "text.h"

namespace everflow {

// A Feature: the kind of its list (kNone if it is empty) and the list's message.
struct Feature {
    DataType type = kNone;
    std::string_view list;
};

// False where the message is broken.
bool read_feature(std::string_view message, Feature& feature);

// A feature as protocol buffers print it.
std::string described(const Feature& feature);

// How error messages call a type, and a list of it.
const char* type_name(DataType type);
const char* list_name(DataType type);

// Copies as many values of a list as there is room for, and counts them all. False where the message is broken.
bool copy_values(std::string_view list, float* out, size_t room, size_t& count);
bool copy_values(std::string_view list, int64_t* out, size_t room, size_t& count);
bool copy_values(std::string_view list, std::string_view* out, size_t room, size_t& count);

// Appends the values of a list. False where the message is broken.
bool append_values(std::string_view list, std::vector<float>& out);
bool append_values(std::string_view list, std::vector<int64_t>& out);
bool append_values(std::string_view list, Views& out);

// Values of one of the three types.
using Values = std::variant<std::vector<float>, std::vector<int64_t>, Views>;

Values values_of_type(DataType type);
size_t size_of(const Values& values);

// Numbers or strings in a place of their own, to become a numpy array.
template <typename T>
struct Block {
    explicit Block(size_t size) : size(size), data(new T[size]) {}

    size_t size;
    std::unique_ptr<T[]> data;
};

using AnyBlock = std::variant<Block<float>, Block<int64_t>, Block<std::string_view>>;

AnyBlock block_of_type(DataType type, size_t size);

// The block as an array of this shape; numbers are moved there. Needs the interpreter's lock.
nanobind::object to_array(AnyBlock& block, const std::vector<size_t>& shape);

// Default values of a feature, kept as long as the parser lives.
class Default {
  public:
    // An array of the feature's type; what is empty or None stands for no default.
    Default(DataType type, nanobind::handle array);
    // Moving leaves the texts where they are, copying would not.
    Default(Default&&) = default;
    Default(const Default&) = delete;

    bool is_given() const { return size_of(values_) != 0; }
    // Writes values from `start` to `stop`; a single default is repeated.
    void fill(AnyBlock& block, size_t start, size_t stop) const;

  private:
    std::vector<std::string> texts_;
    Values values_;
};

// The names and the type in descriptions of features, tuples that begin with both. They need the interpreter's lock.
std::vector<std::string> names_in(const nanobind::list& sparse, const nanobind::list& dense);
DataType type_in(const nanobind::tuple& description);

// Known feature names.
class Names {
  public:
    static constexpr int kUnknown = -1;

    explicit Names(std::vector<std::string> names);
    int find(std::string_view name) const;

  private:
    std::vector<std::string> names_;
    std::unordered_map<std::string_view, int> indices_;
};

// Finds the names of many messages of one source. These list them in one order, so that what came at a place in the last
// message is tried first. The messages must outlive it.
class NameFinder {
  public:
    explicit NameFinder(const Names& names) : names_(names) {}

    void start_message() { place_ = 0; }

    int find(std::string_view name) {
        if (place_ == order_.size()) order_.push_back({name, names_.find(name)});
        auto& [last, index] = order_[place_++];
        if (last != name) {
            last = name;
            index = names_.find(name);
        }
        return index;
    }

  private:
    const Names& names_;
    std::vector<std::pair<std::string_view, int>> order_;
    size_t place_ = 0;
};

// Takes the entries of a map from names to messages, field 1 of `message`; the last one of a name counts. Unknown names are
// left out. False where the message is broken.
bool read_entries(std::string_view message, NameFinder& finder, std::vector<std::string_view>& found, std::vector<bool>& present);

}  // namespace everflow
