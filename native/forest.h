// Random forests: the examples that trees are grown from, the tests in their nodes, and how long they go on.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "philox.h"
#include "wire.h"

namespace everflow::forest {

// What becomes InvalidArgumentError.
struct BadForest : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// A number that may depend on the depth of a node.
struct ByDepth {
    enum Kind { kUnset, kConstant, kLinear, kExponential, kThreshold };
    int kind = kUnset;
    float a = 0, b = 0, c = 0, d = 0;

    float at(int depth) const {
        const auto deep = static_cast<float>(depth);
        switch (kind) {
            case kConstant: return a;
            case kLinear: return std::min(std::max(deep * a + b, c), d);  // slope, intercept, least, most
            case kExponential: return a + c * static_cast<float>(std::pow(b, d * deep));  // bias, base, multiplier, of depth
            case kThreshold: return deep >= c ? a : b;
            default: throw BadForest("unknown parameter type");
        }
    }
};

enum LeafType { kDenseLeaf, kSparseLeaf, kRegressionLeaf, kEitherLeaf };
enum StatsType { kDenseGini, kSparseGini, kLeastSquares, kSparseThenDense, kFixedSizeGini };
enum Pruning { kPruneNone, kPruneHalf, kPruneQuarter, kPruneTenth, kPruneHoeffding };
enum Finish { kFinishBasic = 0, kFinishHoeffding = 2, kFinishBootstrap = 3 };

struct Settings {
    int leaf_type = 0, stats_type = 0, pruning = 0, finish = 0, inequality = 0;
    int max_nodes = 0, outputs = 0, classes_to_track = 0;
    bool regression = false, collate = false, checkpoint_stats = false, running = false, average_splits = false;
    ByDepth prune_every, finish_every, splits_to_consider, split_after, dominate, min_split;
};

// Writes messages. Text is small and short-lived here.
inline void put_varint(std::string& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
}

inline void put_number(std::string& out, uint32_t field, int64_t value) {
    if (value == 0) return;
    put_varint(out, tag_of(field, kVarint));
    put_varint(out, static_cast<uint64_t>(value));
}

inline void put_float(std::string& out, uint32_t field, float value) {
    put_varint(out, tag_of(field, kFixed32));
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_bytes(std::string& out, uint32_t field, std::string_view text) {
    put_varint(out, tag_of(field, kBytes));
    put_varint(out, text.size());
    out.append(text);
}

inline std::string value_message(float value) {
    std::string out;
    put_float(out, 1, value);
    return out;
}

inline std::string wrapped_number(int64_t value) {
    std::string out;
    put_number(out, 1, value);
    return out;
}

// Calls take(field, wire, number, bytes) for each field.
template <typename Take>
void for_each_field(std::string_view message, const Take& take) {
    Reader reader(message);
    while (!reader.done()) {
        uint32_t tag;
        if (!reader.tag(tag)) throw BadForest("Unable to parse a message of trees.");
        uint64_t number = 0;
        std::string_view text;
        const char* word = nullptr;
        bool good = true;
        switch (tag & 7) {
            case kVarint: good = reader.varint(number); break;
            case kBytes: good = reader.bytes(text); break;
            case kFixed32: good = reader.fixed(4, word); text = {word, good ? size_t{4} : 0}; break;
            default: good = reader.skip(tag);
        }
        if (!good) throw BadForest("Unable to parse a message of trees.");
        take(tag >> 3, number, text);
    }
}

inline float as_float(std::string_view four) {
    float value = 0;
    if (four.size() == sizeof value) std::memcpy(&value, four.data(), sizeof value);
    return value;
}

inline float value_of(std::string_view message) {
    float value = 0;
    for_each_field(message, [&](uint32_t field, uint64_t, std::string_view text) { if (field == 1) value = as_float(text); });
    return value;
}

inline int32_t wrapped_number_of(std::string_view message) {
    int32_t value = 0;
    for_each_field(message, [&](uint32_t field, uint64_t number, std::string_view) { if (field == 1) value = static_cast<int32_t>(number); });
    return value;
}

inline int32_t feature_of(std::string_view message) {
    std::string digits;
    for_each_field(message, [&](uint32_t field, uint64_t, std::string_view wrapper) {
        if (field != 1) return;
        for_each_field(wrapper, [&](uint32_t inner, uint64_t, std::string_view text) { if (inner == 1) digits = text; });
    });
    try {
        return std::stoi(digits);
    } catch (const std::exception&) {
        throw BadForest("Invalid feature ID: [" + digits + "]");
    }
}

inline std::string feature_message(int32_t feature) {
    std::string text, wrapper;
    put_bytes(text, 1, std::to_string(feature));
    put_bytes(wrapper, 1, text);
    return wrapper;
}

// What kind the columns of examples are.
struct Columns {
    int32_t dense_size = 0;         // as the specification says
    std::vector<int32_t> kinds;     // of each dense column: 0 for numbers, 1 for categories
    int32_t sparse_kind = 1;
};

// A batch of examples: rows of numbers, or entries of a sparse matrix in order.
struct Examples {
    const float* dense = nullptr;
    size_t width = 0, rows = 0;
    const int64_t* indices = nullptr;
    const float* values = nullptr;
    size_t entries = 0;
    const Columns* columns = nullptr;

    float at(size_t example, int32_t feature) const {
        if (feature >= columns->dense_size) return sparse_at(static_cast<int64_t>(example), feature);
        if (feature < 0 || static_cast<size_t>(feature) >= width) throw BadForest("A tree looks at a feature that examples lack.");
        return dense[example * width + static_cast<size_t>(feature)];
    }

    // The first entry that does not stand before this place.
    size_t first_entry(int64_t row, int64_t column) const {
        size_t low = 0, high = entries;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            const int64_t r = indices[2 * middle], c = indices[2 * middle + 1];
            if (r < row || (r == row && c < column)) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    float sparse_at(int64_t row, int64_t column) const {
        const size_t found = first_entry(row, column);
        return found < entries && indices[2 * found] == row && indices[2 * found + 1] == column ? values[found] : 0.0f;
    }
};

// The test of a node, which sends examples left where it holds.
struct Test {
    enum Kind { kLessOrEqual, kLess, kGreaterOrEqual, kGreater, kMatching, kOblique };
    int kind = kLessOrEqual;
    int32_t feature = -1;
    float threshold = 0;
    bool inverse = false;
    std::vector<float> values;           // more values that match, weights of an oblique test
    std::vector<int32_t> features;       // of an oblique test

    bool holds(const Examples& data, size_t example) const {
        if (kind == kOblique) {
            float sum = 0;
            for (size_t i = 0; i < features.size(); ++i) sum += values[i] * data.at(example, features[i]);
            return sum <= threshold;
        }
        const float value = data.at(example, feature);
        switch (kind) {
            case kLessOrEqual: return value <= threshold;
            case kLess: return value < threshold;
            case kGreaterOrEqual: return value >= threshold;
            case kGreater: return value > threshold;
            default: break;
        }
        bool found = false;
        for (const float one : values) found = found || one == value;
        return found != inverse;
    }

    // The fields of BinaryNode that say so.
    std::string message() const {
        std::string test, out;
        if (kind == kMatching) {
            put_bytes(test, 1, feature_message(feature));
            for (const float one : values) put_bytes(test, 2, value_message(one));
            put_number(test, 3, inverse);
            std::string any;
            put_bytes(any, 1, "type.googleapis.com/tensorflow.decision_trees.MatchingValuesTest");
            put_bytes(any, 2, test);
            put_bytes(out, 5, any);
            return out;
        }
        if (kind == kOblique) {
            std::string oblique, weights;
            for (const int32_t one : features) put_bytes(oblique, 1, feature_message(one));
            weights.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
            put_bytes(oblique, 2, weights);
            put_bytes(test, 4, oblique);
        } else {
            put_bytes(test, 1, feature_message(feature));
            put_number(test, 2, kind);
        }
        put_bytes(test, 3, value_message(threshold));
        put_bytes(out, 4, test);
        return out;
    }

    static Test inequality(std::string_view message) {
        Test test;
        for_each_field(message, [&](uint32_t field, uint64_t number, std::string_view text) {
            if (field == 1) test.feature = feature_of(text);
            if (field == 2) test.kind = static_cast<int>(number);
            if (field == 3) test.threshold = value_of(text);
            if (field != 4) return;
            test.kind = kOblique;
            for_each_field(text, [&](uint32_t inner, uint64_t, std::string_view part) {
                if (inner == 1) test.features.push_back(feature_of(part));
                if (inner == 2) {  // packed, or one by one
                    for (size_t i = 0; i + 4 <= part.size(); i += 4) test.values.push_back(as_float(part.substr(i, 4)));
                }
            });
        });
        if (test.kind == kOblique && test.features.size() != test.values.size()) throw BadForest("An oblique test needs a weight for each feature.");
        if (test.kind < 0 || test.kind > kOblique) throw BadForest("Unknown split test type");
        return test;
    }

    static Test custom(std::string_view any) {
        Test test;
        test.kind = kMatching;
        for_each_field(any, [&](uint32_t field, uint64_t, std::string_view text) {
            if (field == 1 && text.find("MatchingValuesTest") == std::string_view::npos) throw BadForest("Unknown split test");
            if (field != 2) return;
            for_each_field(text, [&](uint32_t inner, uint64_t number, std::string_view part) {
                if (inner == 1) test.feature = feature_of(part);
                if (inner == 2) test.values.push_back(value_of(part));
                if (inner == 3) test.inverse = number != 0;
            });
        });
        return test;
    }
};

// Labels, and weights where there are any.
struct Targets {
    const float* labels = nullptr;
    size_t per_example = 1, count = 0;
    const float* weights = nullptr;
    size_t weight_count = 0;

    float weight(size_t example) const { return example < weight_count ? weights[example] : 1.0f; }
    float number(size_t example, size_t output) const { return labels[example * per_example + output]; }
    int32_t label(size_t example) const { return static_cast<int32_t>(labels[example]); }
};

// TensorFlow's SimplePhilox, which draws word by word.
class Draws {
  public:
    explicit Draws(uint64_t seed) : words_(Stream{seed, 0, 0}) {}

    uint32_t below(uint32_t n) {
        if (n == 0) return words_.next() * n;
        if ((n & (n - 1)) == 0) return words_.next() & (n - 1);
        const uint32_t least = UINT32_MAX % n + 1;
        uint32_t word;
        do word = words_.next();
        while (word < least);
        return word % n;
    }

    float unit() { return unit_float(words_.next()); }

  private:
    Words words_;
};

}  // namespace everflow::forest
