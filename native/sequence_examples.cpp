// Serialized tf.train.SequenceExample messages: features of the whole (the context), and lists with a feature for each step.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "features.h"
#include "wire.h"

namespace nb = nanobind;

namespace everflow {
namespace {

struct Spec {
    std::string name;
    DataType type;
    bool sparse;
    // The shape of a row, its number of elements, and how error messages show it.
    std::vector<size_t> shape;
    size_t elements;
    std::string shown_shape;
    // Lists only: one that is missing counts as empty.
    bool may_be_missing;
};

// What was found of one feature: all values, how many each step has (the context is one step), and the steps of each example.
struct Column {
    Values values;
    std::vector<size_t> counts;
    std::vector<size_t> steps;

    size_t most_steps() const { return steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end()); }
    size_t most_values() const { return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()); }
};

// The features of a context, or the feature lists.
class Table {
  public:
    Table(const nb::list& sparse, const nb::list& dense) : names_(names_in(sparse, dense)) {
        for (const nb::handle spec : sparse) add(nb::cast<nb::tuple>(spec), true);
        for (const nb::handle spec : dense) add(nb::cast<nb::tuple>(spec), false);
    }

    const Names& names() const { return names_; }
    const std::vector<Spec>& specs() const { return specs_; }
    const Default& default_of(size_t s) const { return defaults_[s]; }

  private:
    // A spec is (name, type) for sparse features and (name, type, shape, shown shape, default, may be missing) for dense ones.
    void add(const nb::tuple& spec, bool sparse) {
        Spec made{nb::cast<std::string>(spec[0]), type_in(spec), sparse, {}, 1, {}, sparse};
        if (!sparse) {
            made.shape = nb::cast<std::vector<size_t>>(spec[2]);
            for (const size_t size : made.shape) made.elements *= size;
            made.shown_shape = nb::cast<std::string>(spec[3]);
            made.may_be_missing = nb::cast<bool>(spec[5]);
        }
        defaults_.emplace_back(made.type, sparse ? nb::none() : nb::object(spec[4]));
        specs_.push_back(std::move(made));
    }

    Names names_;
    std::vector<Spec> specs_;
    std::vector<Default> defaults_;
};

// One parse: of a batch, or of a single example, whose errors have other words and whose arrays have no batch dimension.
class Run {
  public:
    Run(const Table& context, const Table& lists, const Views& messages, const Views& names, bool single)
        : context_(context), lists_(lists), messages_(messages), names_(names), single_(single) {
        for (const Spec& spec : context.specs()) context_columns_.push_back({values_of_type(spec.type), {}, {}});
        for (const Spec& spec : lists.specs()) list_columns_.push_back({values_of_type(spec.type), {}, {}});
    }

    // Reads all messages; returns what is wrong, or nothing.
    std::string read() {
        NameFinder context_finder(context_.names()), list_finder(lists_.names());
        Views context(context_.specs().size()), lists(lists_.specs().size());
        std::vector<bool> in_context(context.size()), in_lists(lists.size());
        for (example_ = 0; example_ < messages_.size(); ++example_) {
            std::fill(in_context.begin(), in_context.end(), false);
            std::fill(in_lists.begin(), in_lists.end(), false);
            context_finder.start_message();
            list_finder.start_message();
            const std::string_view message = messages_[example_];
            const auto to_context = [&](auto part) { return read_entries(part, context_finder, context, in_context); };
            const auto to_lists = [&](auto part) { return read_entries(part, list_finder, lists, in_lists); };
            if (!for_each_bytes(message, 1, to_context) || !for_each_bytes(message, 2, to_lists)) return broken();
            for (size_t s = 0; s < context.size(); ++s) {
                std::string problem = in_context[s] ? take_context(s, context[s]) : take_missing_context(s);
                if (!problem.empty()) return problem;
            }
            for (size_t s = 0; s < lists.size(); ++s) {
                std::string problem = in_lists[s] ? take_list(s, lists[s]) : take_missing_list(s);
                if (!problem.empty()) return problem;
            }
        }
        return single_ ? std::string() : uneven_list();
    }

    nb::list arrays() {
        nb::list indices, values, shapes, dense, list_indices, list_values, list_shapes, list_dense, lengths, all;
        for (size_t s = 0; s < context_columns_.size(); ++s) {
            if (context_.specs()[s].sparse) {
                add_sparse(context_columns_[s], context_.specs()[s].type, false, indices, values, shapes);
            } else {
                dense.append(fixed(context_columns_[s], context_.specs()[s]));
            }
        }
        for (size_t s = 0; s < list_columns_.size(); ++s) {
            if (lists_.specs()[s].sparse) {
                add_sparse(list_columns_[s], lists_.specs()[s].type, true, list_indices, list_values, list_shapes);
            } else {
                list_dense.append(padded(list_columns_[s], lists_.specs()[s], lists_.default_of(s)));
                if (!single_) lengths.append(lengths_of(list_columns_[s]));
            }
        }
        for (const nb::list& list : {indices, values, shapes, dense}) all.extend(list);
        for (const nb::list& list : {list_indices, list_values, list_shapes, list_dense, lengths}) all.extend(list);
        return all;
    }

  private:
    std::string name() const { return example_ < names_.size() ? std::string(names_[example_]) : single_ ? "" : "<unknown>"; }

    std::string broken() const {
        if (single_) return "Could not parse example input, value: '" + std::string(messages_[example_]) + "'";
        return "Invalid protocol message input, example id: " + name();
    }

    std::string take_context(size_t s, std::string_view message) {
        const Spec& spec = context_.specs()[s];
        Column& column = context_columns_[s];
        Feature feature;
        if (!read_feature(message, feature)) return broken();
        if (feature.type == kNone && (spec.sparse || !single_)) return take_missing_context(s);
        if (feature.type != spec.type) {
            if (!single_) return "Error in context feature " + spec.name + " in example " + name();
            return "Name: " + name() + ", Context feature: " + spec.name + ".  " + mismatch(spec, feature);
        }
        const size_t before = size_of(column.values);
        if (!append(column, feature)) return broken();
        const size_t count = size_of(column.values) - before;
        column.counts.push_back(count);
        column.steps.push_back(1);
        if (spec.sparse || count == spec.elements) return {};
        return single_ ? wrong_count(spec, 0, count) : inconsistent(spec, count);
    }

    std::string take_missing_context(size_t s) {
        const Spec& spec = context_.specs()[s];
        Column& column = context_columns_[s];
        column.counts.push_back(0);
        column.steps.push_back(1);
        if (spec.sparse) return {};
        if (!context_.default_of(s).is_given() && spec.elements) {
            if (single_) return "Name: " + name() + ", Context feature '" + spec.name + "' is required but could not be found.";
            return inconsistent(spec, 0);
        }
        AnyBlock row = block_of_type(spec.type, spec.elements);
        context_.default_of(s).fill(row, 0, spec.elements);
        std::visit(
            [&](auto& values) {
                using T = typename std::decay_t<decltype(values)>::value_type;
                const T* const from = std::get<Block<T>>(row).data.get();
                values.insert(values.end(), from, from + spec.elements);
            },
            column.values);
        return {};
    }

    std::string take_list(size_t s, std::string_view message) {
        const Spec& spec = lists_.specs()[s];
        Column& column = list_columns_[s];
        std::string problem;
        size_t steps = 0;
        const bool is_whole = for_each_bytes(message, 1, [&](std::string_view step) {
            Feature feature;
            if (!read_feature(step, feature)) return false;
            const bool is_empty = feature.type == kNone && (spec.sparse || !single_);
            if (!is_empty && feature.type != spec.type) {
                problem = wrong_type(spec, steps, feature);
                return false;
            }
            const size_t before = size_of(column.values);
            if (!is_empty && !append(column, feature)) return false;
            const size_t count = size_of(column.values) - before;
            column.counts.push_back(count);
            if (single_ && !spec.sparse && count != spec.elements) {
                problem = wrong_count(spec, steps, count);
                return false;
            }
            ++steps;
            return true;
        });
        column.steps.push_back(steps);
        return is_whole || !problem.empty() ? problem : broken();
    }

    std::string take_missing_list(size_t s) {
        const Spec& spec = lists_.specs()[s];
        list_columns_[s].steps.push_back(0);
        if (spec.may_be_missing) return {};
        if (!single_) return "Missing feature " + spec.name + " in example " + name();
        return "Name: " + name() + ", Feature list '" + spec.name +
               "' is required but could not be found.  Did you mean to include it in feature_list_dense_missing_assumed_empty or "
               "feature_list_dense_defaults?";
    }

    // A batch's dense lists are measured when all of them are there.
    std::string uneven_list() {
        for (size_t s = 0; s < list_columns_.size(); ++s) {
            const Spec& spec = lists_.specs()[s];
            const Column& column = list_columns_[s];
            if (spec.sparse) continue;
            std::optional<size_t> uneven;
            size_t most = 0, step = 0;
            for (size_t i = 0; i < column.steps.size(); ++i) {
                size_t sum = 0;
                for (const size_t end = step + column.steps[i]; step < end; ++step) {
                    sum += column.counts[step];
                    if (column.counts[step] != spec.elements && !uneven) uneven = i;
                }
                most = std::max(most, sum);
            }
            if (!uneven) continue;
            if (spec.elements && most % spec.elements) return "Unexpected shape error in feature " + spec.name;
            example_ = *uneven;
            return "Unexpected number of elements in feature " + spec.name + ", example " + name();
        }
        return {};
    }

    // The number that TensorFlow expects is shown as 1, whatever it is.
    static std::string inconsistent(const Spec& spec, size_t count) {
        return "Inconsistent number of elements for feature " + spec.name + ": " + std::to_string(count) + " vs 1";
    }

    std::string wrong_type(const Spec& spec, size_t step, const Feature& feature) const {
        if (!single_) return "Error in sequence feature " + spec.name + " in example " + name();
        const char* const label = spec.sparse ? ", Feature List: " : ", Feature list: ";
        return "Name: " + name() + label + spec.name + ", Index: " + std::to_string(step) + ".  " + mismatch(spec, feature);
    }

    static std::string mismatch(const Spec& spec, const Feature& feature) {
        return std::string("Data types don't match. Expected type: ") + type_name(spec.type) + "  Feature is: " + described(feature);
    }

    std::string wrong_count(const Spec& spec, size_t step, size_t count) const {
        return "Name: " + name() + ", Key: " + spec.name + ", Index: " + std::to_string(step) + ".  Number of " + list_name(spec.type) +
               " values != expected.  values size: " + std::to_string(count) + " but output shape: " + spec.shown_shape;
    }

    static bool append(Column& column, const Feature& feature) {
        return std::visit([&](auto& values) { return append_values(feature.list, values); }, column.values);
    }

    // All values, in the order in which they came.
    static AnyBlock block_of(const Column& column, DataType type) {
        AnyBlock block = block_of_type(type, size_of(column.values));
        std::visit(
            [&](const auto& values) {
                using T = typename std::decay_t<decltype(values)>::value_type;
                std::copy(values.begin(), values.end(), std::get<Block<T>>(block).data.get());
            },
            column.values);
        return block;
    }

    std::vector<size_t> with_batch(std::vector<size_t> shape, const std::vector<size_t>& row) const {
        if (!single_) shape.insert(shape.begin(), messages_.size());
        shape.insert(shape.end(), row.begin(), row.end());
        return shape;
    }

    nb::object fixed(const Column& column, const Spec& spec) const {
        AnyBlock block = block_of(column, spec.type);
        return to_array(block, with_batch({}, spec.shape));
    }

    // An index has the example (in a batch), the step (in lists) and the place in the step.
    void add_sparse(const Column& column, DataType type, bool has_steps, nb::list& indices, nb::list& values, nb::list& shapes) const {
        const size_t count = size_of(column.values), rank = (single_ ? 1 : 2) + (has_steps ? 1 : 0);
        std::unique_ptr<int64_t[]> places(new int64_t[count * rank]), shape(new int64_t[rank]);
        int64_t* place = places.get();
        size_t next = 0;
        for (size_t example = 0; example < column.steps.size(); ++example) {
            for (size_t step = 0; step < column.steps[example]; ++step, ++next) {
                for (size_t k = 0; k < column.counts[next]; ++k) {
                    if (!single_) *place++ = static_cast<int64_t>(example);
                    if (has_steps) *place++ = static_cast<int64_t>(step);
                    *place++ = static_cast<int64_t>(k);
                }
            }
        }
        int64_t* size = shape.get();
        if (!single_) *size++ = static_cast<int64_t>(messages_.size());
        if (has_steps) *size++ = static_cast<int64_t>(column.most_steps());
        *size = static_cast<int64_t>(column.most_values());
        AnyBlock block = block_of(column, type);
        indices.append(number_array(std::move(places), {count, rank}));
        values.append(to_array(block, {count}));
        shapes.append(number_array(std::move(shape), {rank}));
    }

    nb::object padded(const Column& column, const Spec& spec, const Default& filling) const {
        const size_t steps = column.most_steps(), row = steps * spec.elements;
        AnyBlock block = block_of_type(spec.type, messages_.size() * row);
        size_t from = 0;
        for (size_t example = 0; example < messages_.size(); ++example) {
            const size_t count = column.steps[example] * spec.elements;
            std::visit(
                [&](const auto& values) {
                    using T = typename std::decay_t<decltype(values)>::value_type;
                    T* const to = std::get<Block<T>>(block).data.get() + example * row;
                    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), count, to);
                },
                column.values);
            filling.fill(block, example * row + count, (example + 1) * row);
            from += count;
        }
        return to_array(block, with_batch({steps}, spec.shape));
    }

    static nb::object lengths_of(const Column& column) {
        std::unique_ptr<int64_t[]> lengths(new int64_t[column.steps.size()]);
        std::copy(column.steps.begin(), column.steps.end(), lengths.get());
        return number_array(std::move(lengths), {column.steps.size()});
    }

    const Table& context_;
    const Table& lists_;
    const Views& messages_;
    const Views& names_;
    const bool single_;
    size_t example_ = 0;
    std::vector<Column> context_columns_, list_columns_;
};

class SequenceExampleParser {
  public:
    SequenceExampleParser(const nb::list& context_sparse, const nb::list& context_dense, const nb::list& list_sparse,
                          const nb::list& list_dense)
        : context_(context_sparse, context_dense), lists_(list_sparse, list_dense) {}
    SequenceExampleParser(const SequenceExampleParser&) = delete;

    // The arrays of a batch: indices, values and shapes of sparse features and the dense ones, of the context and then of the
    // lists, and at last the lengths of the dense lists.
    nb::list parse(nb::handle serialized, nb::handle names) const {
        return parsed(views_of(serialized), names.is_none() ? Views() : views_of(names), false);
    }

    // The same for one example, without the dimension of the batch and without lengths.
    nb::list parse_single(const nb::bytes& serialized, const nb::bytes& name) const {
        return parsed({{serialized.c_str(), serialized.size()}}, {{name.c_str(), name.size()}}, true);
    }

  private:
    nb::list parsed(const Views& messages, const Views& names, bool single) const {
        Run run(context_, lists_, messages, names, single);
        std::string problem;
        {
            nb::gil_scoped_release unlocked;
            problem = run.read();
        }
        if (!problem.empty()) raise_invalid_argument(problem);
        return run.arrays();
    }

    Table context_, lists_;
};

}  // namespace

void add_sequence_examples(nb::module_& module) {
    nb::class_<SequenceExampleParser>(module, "SequenceExampleParser")
        .def(nb::init<const nb::list&, const nb::list&, const nb::list&, const nb::list&>(), nb::arg("context_sparse"),
             nb::arg("context_dense"), nb::arg("list_sparse"), nb::arg("list_dense"))
        .def("parse", &SequenceExampleParser::parse, nb::arg("serialized"), nb::arg("names").none())
        .def("parse_single", &SequenceExampleParser::parse_single, nb::arg("serialized"), nb::arg("name"));
}

}  // namespace everflow
