// Batches of serialized tf.train.Example messages, parsed into dense and sparse columns.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "features.h"
#include "parallel.h"
#include "wire.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Below this many examples a thread costs more than it brings.
constexpr size_t kGrain = 256;

// How a feature is read: into a sparse tensor, into rows of one size, or into rows that are padded to the longest.
enum class Form { kSparse, kFixed, kPadded };

struct Spec {
    std::string name;
    DataType type;
    Form form;
    // The shape of a row (of a step of a padded row), its number of elements, and how error messages show it.
    std::vector<size_t> shape;
    size_t elements;
    std::string shown_shape;
};

// What a thread finds in its stretch of the batch, for the features whose size is not known before.
struct Part {
    std::vector<Values> values;
    std::vector<std::vector<size_t>> counts;
};

struct Failure {
    size_t example;
    std::string message;
};

class ExampleParser {
  public:
    // A feature is (name, type) where it is sparse and (name, type, shape, shown shape, default) where it is dense. The shape is
    // that of a row, and begins with -1 for padded ones.
    ExampleParser(const nb::list& sparse, const nb::list& dense) : names_(names_in(sparse, dense)) {
        for (const nb::handle item : sparse) {
            const auto given = nb::cast<nb::tuple>(item);
            specs_.push_back({nb::cast<std::string>(given[0]), type_in(given), Form::kSparse, {}, 1, {}});
            defaults_.emplace_back(specs_.back().type, nb::none());
        }
        for (const nb::handle item : dense) {
            const auto given = nb::cast<nb::tuple>(item);
            const auto shape = nb::cast<std::vector<int64_t>>(given[2]);
            const bool padded = !shape.empty() && shape[0] < 0;
            const std::vector<size_t> row(shape.begin() + padded, shape.end());
            size_t elements = 1;
            for (const size_t size : row) elements *= size;
            const Form form = padded ? Form::kPadded : Form::kFixed;
            specs_.push_back({nb::cast<std::string>(given[0]), type_in(given), form, row, elements, nb::cast<std::string>(given[3])});
            defaults_.emplace_back(specs_.back().type, given[4]);
        }
    }
    ExampleParser(const ExampleParser&) = delete;

    // The arrays of a batch: indices, values and shapes of the sparse features, then the dense ones.
    nb::list parse(nb::handle serialized, nb::handle names, size_t threads) const {
        const Views messages = views_of(serialized);
        return run(messages, names.is_none() ? Views() : views_of(names), threads, false);
    }

    // The same for one example, without the dimension of the batch.
    nb::list parse_single(const nb::bytes& serialized) const {
        return run({std::string_view(serialized.c_str(), serialized.size())}, {}, 1, true);
    }

  private:
    struct Batch {
        const Views& messages;
        const Views& names;
        bool single;
        std::vector<std::optional<AnyBlock>> rows;
        std::vector<Part> parts;
        std::vector<std::optional<Failure>> failures;
    };

    nb::list run(const Views& messages, const Views& names, size_t threads, bool single) const {
        const size_t count = messages.size();
        Batch batch{messages, names, single, {}, {}, {}};
        for (const Spec& spec : specs_) {
            batch.rows.emplace_back();
            if (spec.form == Form::kFixed) batch.rows.back() = block_of_type(spec.type, count * spec.elements);
        }
        const size_t pieces = std::max<size_t>(1, std::min(threads, count / kGrain));
        batch.parts.resize(pieces);
        batch.failures.resize(pieces);
        if (single) {
            parse_part(batch, 0, 0, count);
        } else {
            nb::gil_scoped_release unlocked;
            const size_t size = (count + pieces - 1) / pieces;
            in_parallel(pieces, 1, pieces, [&](size_t begin, size_t end) {
                for (size_t i = begin; i < end; ++i) parse_part(batch, i, std::min(count, i * size), std::min(count, (i + 1) * size));
            });
        }
        for (const auto& failure : batch.failures) {
            if (failure) raise_invalid_argument(failure->message);
        }
        return collected(batch);
    }

    void parse_part(Batch& batch, size_t piece, size_t begin, size_t end) const {
        Part& part = batch.parts[piece];
        for (const Spec& spec : specs_) {
            part.values.push_back(values_of_type(spec.type));
            part.counts.emplace_back();
            if (spec.form != Form::kFixed) part.counts.back().reserve(end - begin);
        }
        NameFinder finder(names_);
        Views found(specs_.size());
        std::vector<bool> present(specs_.size());
        for (size_t i = begin; i < end; ++i) {
            std::fill(present.begin(), present.end(), false);
            finder.start_message();
            const bool is_whole = for_each_bytes(batch.messages[i], 1, [&](std::string_view features) {
                return read_entries(features, finder, found, present);
            });
            if (!is_whole) {
                batch.failures[piece] = {i, "Could not parse example input, value: '" + std::string(batch.messages[i]) + "'"};
                return;
            }
            for (size_t s = 0; s < specs_.size(); ++s) {
                std::string problem = take(batch, part, s, i, present[s] ? std::optional(found[s]) : std::nullopt);
                if (!problem.empty()) {
                    batch.failures[piece] = {i, std::move(problem)};
                    return;
                }
            }
        }
    }

    // Stores a feature of an example; returns what is wrong, or nothing.
    std::string take(Batch& batch, Part& part, size_t s, size_t example, std::optional<std::string_view> message) const {
        const Spec& spec = specs_[s];
        Feature feature;
        if (message && !read_feature(*message, feature)) return at(batch, spec, example) + "Can't parse serialized Example.";
        if (feature.type == kNone) return take_missing(batch, part, s, example);
        if (feature.type != spec.type) {
            const std::string got = type_name(feature.type), wanted = type_name(spec.type);
            const std::string where = at(batch, spec, example) + "Data types don't match. ";
            if (spec.form == Form::kSparse) return where + "Expected type: " + wanted + ", Actual type: " + got;
            return where + "Data type: " + got + " but expected type: " + wanted;
        }
        size_t count = 0;
        bool is_whole;
        if (spec.form == Form::kFixed) {
            is_whole = std::visit(
                [&](auto& block) { return copy_values(feature.list, block.data.get() + example * spec.elements, spec.elements, count); },
                *batch.rows[s]);
        } else {
            const size_t before = size_of(part.values[s]);
            is_whole = std::visit([&](auto& values) { return append_values(feature.list, values); }, part.values[s]);
            count = size_of(part.values[s]) - before;
            part.counts[s].push_back(count);
        }
        const bool is_multiple = spec.elements != 0 && count % spec.elements == 0;
        const bool fits = spec.form == Form::kSparse || (spec.form == Form::kFixed ? count == spec.elements : is_multiple);
        if (is_whole && fits) return {};
        const std::string where = at(batch, spec, example);
        if (!is_whole || batch.single) return where + "Can't parse serialized Example.";
        const std::string values = "Number of " + std::string(list_name(spec.type)) + " values ";
        if (spec.form == Form::kFixed) {
            return where + values + "!= expected.  Values size: " + std::to_string(count) + " but output shape: " + spec.shown_shape;
        }
        return where + values + "is not a multiple of stride length. Saw " + std::to_string(count) + " values but output shape is: " +
               spec.shown_shape;
    }

    std::string take_missing(Batch& batch, Part& part, size_t s, size_t example) const {
        const Spec& spec = specs_[s];
        if (spec.form != Form::kFixed) {
            part.counts[s].push_back(0);
            return {};
        }
        if (!defaults_[s].is_given() && spec.elements) {
            const std::string name = batch.single ? "" : "Name: " + name_of(batch, example) + ", ";
            return name + "Feature: " + spec.name + " (data type: " + type_name(spec.type) + ") is required but could not be found.";
        }
        defaults_[s].fill(*batch.rows[s], example * spec.elements, (example + 1) * spec.elements);
        return {};
    }

    static std::string name_of(const Batch& batch, size_t example) {
        return example < batch.names.size() ? std::string(batch.names[example]) : "<unknown>";
    }

    // The beginning of a message about a feature of an example.
    static std::string at(const Batch& batch, const Spec& spec, size_t example) {
        if (batch.single) return "Key: " + spec.name + ".  ";
        return "Name: " + name_of(batch, example) + ", Key: " + spec.name + ", Index: " + std::to_string(example) + ".  ";
    }

    nb::list collected(Batch& batch) const {
        nb::list indices, values, shapes, dense;
        for (size_t s = 0; s < specs_.size(); ++s) {
            switch (specs_[s].form) {
                case Form::kSparse: collect_sparse(batch, s, indices, values, shapes); break;
                case Form::kFixed: dense.append(to_array(*batch.rows[s], with_batch(batch, {}, specs_[s].shape))); break;
                case Form::kPadded: dense.append(padded(batch, s)); break;
            }
        }
        nb::list all;
        for (const nb::list& list : {indices, values, shapes, dense}) all.extend(list);
        return all;
    }

    static std::vector<size_t> with_batch(const Batch& batch, std::vector<size_t> steps, const std::vector<size_t>& row) {
        std::vector<size_t> shape;
        if (!batch.single) shape.push_back(batch.messages.size());
        shape.insert(shape.end(), steps.begin(), steps.end());
        shape.insert(shape.end(), row.begin(), row.end());
        return shape;
    }

    static size_t total(const Batch& batch, size_t s) {
        size_t sum = 0;
        for (const Part& part : batch.parts) sum += size_of(part.values[s]);
        return sum;
    }

    static size_t longest(const Batch& batch, size_t s) {
        size_t most = 0;
        for (const Part& part : batch.parts) {
            for (const size_t count : part.counts[s]) most = std::max(most, count);
        }
        return most;
    }

    void collect_sparse(Batch& batch, size_t s, nb::list& indices, nb::list& values, nb::list& shapes) const {
        const size_t count = total(batch, s), rank = batch.single ? 1 : 2;
        std::unique_ptr<int64_t[]> places(new int64_t[count * rank]);
        AnyBlock all = block_of_type(specs_[s].type, count);
        size_t example = 0, at = 0;
        int64_t* place = places.get();
        for (const Part& part : batch.parts) {
            for (const size_t n : part.counts[s]) {
                for (size_t k = 0; k < n; ++k) {
                    if (!batch.single) *place++ = static_cast<int64_t>(example);
                    *place++ = static_cast<int64_t>(k);
                }
                ++example;
            }
            at = copy_to(all, at, part.values[s]);
        }
        std::unique_ptr<int64_t[]> shape(new int64_t[rank]);
        shape[0] = static_cast<int64_t>(batch.messages.size());
        shape[rank - 1] = static_cast<int64_t>(longest(batch, s));
        indices.append(number_array(std::move(places), {count, rank}));
        values.append(to_array(all, {count}));
        shapes.append(number_array(std::move(shape), {rank}));
    }

    // Copies values behind each other; returns where the next ones go.
    static size_t copy_to(AnyBlock& block, size_t at, const Values& values) {
        std::visit(
            [&](const auto& found) {
                using T = typename std::decay_t<decltype(found)>::value_type;
                std::copy(found.begin(), found.end(), std::get<Block<T>>(block).data.get() + at);
            },
            values);
        return at + size_of(values);
    }

    nb::object padded(Batch& batch, size_t s) const {
        const Spec& spec = specs_[s];
        const size_t most = longest(batch, s);
        AnyBlock all = block_of_type(spec.type, batch.messages.size() * most);
        size_t row = 0;
        for (const Part& part : batch.parts) {
            size_t from = 0;
            for (const size_t n : part.counts[s]) {
                std::visit(
                    [&](const auto& found) {
                        using T = typename std::decay_t<decltype(found)>::value_type;
                        std::copy_n(found.begin() + static_cast<std::ptrdiff_t>(from), n, std::get<Block<T>>(all).data.get() + row * most);
                    },
                    part.values[s]);
                defaults_[s].fill(all, row * most + n, (row + 1) * most);
                from += n;
                ++row;
            }
        }
        return to_array(all, with_batch(batch, {spec.elements ? most / spec.elements : 0}, spec.shape));
    }

    std::vector<Spec> specs_;
    std::vector<Default> defaults_;
    Names names_;
};

}  // namespace

void add_examples(nb::module_& module) {
    nb::class_<ExampleParser>(module, "ExampleParser")
        .def(nb::init<const nb::list&, const nb::list&>(), nb::arg("sparse"), nb::arg("dense"))
        .def("parse", &ExampleParser::parse, nb::arg("serialized"), nb::arg("names").none(), nb::arg("threads"))
        .def("parse_single", &ExampleParser::parse_single, nb::arg("serialized"));
}

}  // namespace everflow
