// Summaries as bytes: messages of numbers, histograms and pictures, put together and framed as events of a file.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "records.h"
#include "text.h"
#include "wire.h"

namespace nb = nanobind;

namespace everflow {
namespace {

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// Messages, written field by field.
struct Message {
    std::string text;

    void varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) text.push_back(static_cast<char>(value | 0x80));
        text.push_back(static_cast<char>(value));
    }
    void number(uint32_t field, uint64_t value) {
        varint(tag_of(field, kVarint));
        varint(value);
    }
    void bytes(uint32_t field, std::string_view value) {
        varint(tag_of(field, kBytes));
        varint(value.size());
        text.append(value);
    }
    void float32(uint32_t field, float value) {
        varint(tag_of(field, kFixed32));
        text.append(reinterpret_cast<const char*>(&value), 4);
    }
    void float64(uint32_t field, double value) {
        varint(tag_of(field, kFixed64));
        text.append(reinterpret_cast<const char*>(&value), 8);
    }
    // A number that is zero is not written.
    void some_float64(uint32_t field, double value) {
        uint64_t bits;
        std::memcpy(&bits, &value, 8);
        if (bits) float64(field, value);
    }
    void float64s(uint32_t field, const std::vector<double>& values) {
        bytes(field, {reinterpret_cast<const char*>(values.data()), values.size() * 8});
    }
};

enum SummaryField : uint32_t { kValue = 1 };
enum ValueField : uint32_t { kTag = 1, kSimpleValue = 2, kImage = 4, kHistogram = 5, kMetadata = 9 };
enum EventField : uint32_t { kWallTime = 1, kStep = 2, kSummary = 5 };

nb::bytes scalar_summary(const nb::bytes& tag, double number) {
    Message value, summary;
    if (tag.size()) value.bytes(kTag, view_of(tag));
    value.float32(kSimpleValue, static_cast<float>(number));
    summary.bytes(kValue, value.text);
    return bytes_of(summary.text);
}

// The upper bounds of buckets: each a tenth wider than the one before it, from 1e-12 to 1e20, the same below zero.
class Buckets {
  public:
    Buckets() {
        for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive_.push_back(limit);
        positive_.push_back(DBL_MAX);
        for (auto limit = positive_.rbegin(); limit != positive_.rend(); ++limit) limits.push_back(-*limit);
        limits.push_back(0.0);
        limits.insert(limits.end(), positive_.begin(), positive_.end());
        for (size_t i = 0; i < kStarts; ++i) {
            const uint64_t bits = static_cast<uint64_t>(i) << kShift;
            double least;
            std::memcpy(&least, &bits, 8);
            const auto first = std::lower_bound(positive_.begin(), positive_.end(), least);
            starts_[i] = static_cast<uint16_t>(first - positive_.begin());
        }
    }

    // Where the first limit above a finite value stands; the last one bounds everything.
    size_t place(double value) const {
        const double size = std::fabs(value);
        uint64_t bits;
        std::memcpy(&bits, &size, 8);
        size_t i = starts_[bits >> kShift];
        const size_t n = positive_.size();
        if (value < 0) {
            while (i < n && positive_[i] < size) ++i;
            return n - i;
        }
        while (i < n && positive_[i] <= size) ++i;
        return std::min(n + 1 + i, limits.size() - 1);
    }

    std::vector<double> limits;

  private:
    // The exponent and three bits more say roughly where a number belongs: the rest is a step or two.
    static constexpr int kShift = 49;
    static constexpr size_t kStarts = size_t{1} << (63 - kShift);
    std::vector<double> positive_;
    uint16_t starts_[kStarts];
};

struct Statistics {
    double least = DBL_MAX, most = -DBL_MAX, sum = 0, sum_squares = 0;
    std::vector<uint32_t> counts;
    bool is_nan = false, is_infinite = false;
};

template <typename T>
void take(Statistics& found, const Buckets& buckets, const T* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const auto value = static_cast<double>(values[i]);
        if (!std::isfinite(value)) {
            (std::isnan(value) ? found.is_nan : found.is_infinite) = true;
            return;
        }
        ++found.counts[buckets.place(value)];
        found.least = std::min(found.least, value);
        found.most = std::max(found.most, value);
        found.sum += value;
        found.sum_squares += value * value;
    }
}

// A HistogramProto of numbers at an address. A run of empty buckets is one bucket.
std::string histogram(uintptr_t values, size_t count, bool is_double, const std::string& name) {
    static const Buckets buckets;
    const std::vector<double>& limits = buckets.limits;
    Statistics found;
    found.counts.resize(limits.size());
    if (is_double) {
        take(found, buckets, reinterpret_cast<const double*>(values), count);
    } else {
        take(found, buckets, reinterpret_cast<const float*>(values), count);
    }
    if (found.is_nan) raise_invalid_argument("Nan in summary histogram for: " + name);
    if (found.is_infinite) raise_invalid_argument("Infinity in summary histogram for: " + name);
    std::vector<double> bounds, counts;
    const auto last = limits.size() - 1;
    for (size_t i = 0; i <= last; ++i) {
        if (i == last || found.counts[i] || found.counts[i + 1]) {
            bounds.push_back(limits[i]);
            counts.push_back(found.counts[i]);
        }
    }
    Message message;
    message.some_float64(1, found.least);
    message.some_float64(2, found.most);
    message.some_float64(3, static_cast<double>(count));
    message.some_float64(4, found.sum);
    message.some_float64(5, found.sum_squares);
    message.float64s(6, bounds);
    message.float64s(7, counts);
    return message.text;
}

nb::bytes histogram_summary(const nb::bytes& tag, uintptr_t values, size_t count, bool is_double, const std::string& name) {
    Message value, summary;
    if (tag.size()) value.bytes(kTag, view_of(tag));
    value.bytes(kHistogram, histogram(values, count, is_double, name));
    summary.bytes(kValue, value.text);
    return bytes_of(summary.text);
}

// Pixels from 0 to 255: scaled up to the largest where none is negative, else around 128; a colour for those that are not finite.
void to_pixels(const float* image, size_t pixels, size_t depth, const uint8_t* bad_colour, uint8_t* out) {
    const auto is_finite = [&](size_t pixel) {
        return std::all_of(image + pixel * depth, image + (pixel + 1) * depth, [](float x) { return std::isfinite(x); });
    };
    float low = FLT_MAX, high = -FLT_MAX;
    bool any = false;
    for (size_t i = 0; i < pixels; ++i) {
        if (!is_finite(i)) continue;
        any = true;
        for (size_t c = 0; c < depth; ++c) {
            low = std::min(low, image[i * depth + c]);
            high = std::max(high, image[i * depth + c]);
        }
    }
    if (!any) low = high = 0;
    constexpr float kZero = 1e-6f;
    float scale, offset;
    if (low < 0) {
        const float largest = std::max(std::fabs(low), std::fabs(high));
        scale = largest < kZero ? 0 : 127.0f / largest;
        offset = 128;
    } else {
        scale = high < kZero ? 0 : 255.0f / high;
        offset = 0;
    }
    for (size_t i = 0; i < pixels; ++i) {
        const bool good = is_finite(i);
        for (size_t c = 0; c < depth; ++c) {
            const size_t at = i * depth + c;
            out[at] = good ? static_cast<uint8_t>(static_cast<int64_t>(image[at] * scale + offset)) : bad_colour[c];
        }
    }
}

nb::bytes image_pixels(uintptr_t image, size_t pixels, size_t depth, const nb::bytes& bad_colour) {
    if (bad_colour.size() < depth) throw nb::value_error("a colour has a number for each channel");
    std::string found(pixels * depth, '\0');
    to_pixels(reinterpret_cast<const float*>(image), pixels, depth, reinterpret_cast<const uint8_t*>(bad_colour.c_str()),
              reinterpret_cast<uint8_t*>(found.data()));
    return bytes_of(found);
}

nb::bytes image_summary(const nb::bytes& tag, size_t height, size_t width, size_t depth, const nb::bytes& encoded) {
    Message image, value, summary;
    if (height) image.number(1, height);
    if (width) image.number(2, width);
    if (depth) image.number(3, depth);
    image.bytes(4, view_of(encoded));
    value.bytes(kTag, view_of(tag));
    value.bytes(kImage, image.text);
    summary.bytes(kValue, value.text);
    return bytes_of(summary.text);
}

// What a value says of itself: its tag, whether it has metadata, and its bytes without them. False where it makes no sense.
bool read_value(std::string_view value, std::string_view& tag, bool& has_metadata) {
    Reader reader(value);
    tag = {};
    has_metadata = false;
    while (!reader.done()) {
        uint32_t field;
        std::string_view bytes;
        if (!reader.tag(field)) return false;
        if (field == tag_of(kTag, kBytes)) {
            if (!reader.bytes(tag)) return false;
        } else if (field == tag_of(kMetadata, kBytes)) {
            if (!reader.bytes(bytes)) return false;
            has_metadata = true;
        } else if (!reader.skip(field)) {
            return false;
        }
    }
    return true;
}

// One summary of the values of several. Messages whose fields are lists are merged by writing one after the other.
nb::bytes merged_summary(const nb::list& summaries) {
    std::unordered_set<std::string_view> seen;
    std::string all, twice;
    for (const nb::handle summary : summaries) {
        const std::string_view text = view_of(nb::borrow<nb::bytes>(summary));
        const bool makes_sense = for_each_bytes(text, kValue, [&](std::string_view value) {
            std::string_view tag;
            bool has_metadata;
            if (!read_value(value, tag, has_metadata)) return false;
            if (!tag.empty() && !seen.insert(tag).second && twice.empty()) twice = tag;
            return true;
        });
        if (!makes_sense) raise_invalid_argument("Could not parse one of the summary inputs");
        if (!twice.empty()) raise_invalid_argument("Duplicate tag " + twice + " found in summary inputs");
        all.append(text);
    }
    return bytes_of(all);
}

void append_without_metadata(Message& out, std::string_view value) {
    Message kept;
    Reader reader(value);
    const char* at = value.data();
    while (!reader.done()) {
        uint32_t field;
        reader.tag(field);
        reader.skip(field);
        const char* const next = value.data() + value.size() - reader.left();
        if (field != tag_of(kMetadata, kBytes)) kept.text.append(at, next - at);
        at = next;
    }
    out.bytes(kValue, kept.text);
}

// The event of a summary as a record of a file. Metadata are told once for each tag; `seen` holds those of which they were.
nb::object summary_record(const nb::bytes& summary, double wall_time, int64_t step, nb::set seen) {
    Message values;
    const std::string_view text = view_of(summary);
    bool is_same = true, makes_sense = true;
    std::vector<std::pair<std::string_view, bool>> found;
    makes_sense = for_each_bytes(text, kValue, [&](std::string_view value) {
        std::string_view tag;
        bool has_metadata;
        if (!read_value(value, tag, has_metadata)) return false;
        bool drops = false;
        if (has_metadata) {
            const nb::str name(tag.data(), tag.size());
            drops = seen.contains(name);
            if (!drops) seen.add(name);
        }
        is_same = is_same && !drops;
        found.emplace_back(value, drops);
        return true;
    });
    if (!makes_sense) return nb::none();
    Message event;
    event.some_float64(kWallTime, wall_time);
    if (step) event.number(kStep, static_cast<uint64_t>(step));
    if (is_same) {
        event.bytes(kSummary, text);
    } else {
        for (const auto& [value, drops] : found) {
            if (drops) {
                append_without_metadata(values, value);
            } else {
                values.bytes(kValue, value);
            }
        }
        event.bytes(kSummary, values.text);
    }
    return bytes_of(framed(event.text));
}

int distance(int a, int b) { return a < b ? b - a : a - b; }

uint8_t nearest(int left, int up, int corner) {
    const int by_left = distance(up, corner), by_up = distance(left, corner), by_corner = std::abs(left + up - 2 * corner);
    if (by_left <= by_up && by_left <= by_corner) return static_cast<uint8_t>(left);
    return static_cast<uint8_t>(by_up <= by_corner ? up : corner);
}

// The lines of a PNG: each as differences to its neighbours by the filter that leaves the least, with the filter's number in front.
nb::bytes filtered_lines(const nb::bytes& pixels, size_t height, size_t line, size_t pixel) {
    if (pixels.size() != height * line) throw nb::value_error("a picture has as many bytes as its lines");
    constexpr int kFilters = 5;
    const auto* const all = reinterpret_cast<const uint8_t*>(pixels.c_str());
    std::string found;
    found.reserve(height * (line + 1));
    // Lines with a pixel of zeros before them.
    std::vector<uint8_t> padded(line + pixel), above(line + pixel), tried[kFilters];
    for (auto& candidate : tried) candidate.resize(line);
    for (size_t y = 0; y < height; ++y) {
        if (line) std::memcpy(padded.data() + pixel, all + y * line, line);
        uint64_t costs[kFilters] = {};
        for (size_t x = 0; x < line; ++x) {
            const int now = padded[x + pixel], left = padded[x], up = above[x + pixel], corner = above[x];
            const uint8_t values[kFilters] = {
                static_cast<uint8_t>(now), static_cast<uint8_t>(now - left), static_cast<uint8_t>(now - up),
                static_cast<uint8_t>(now - ((left + up) >> 1)), static_cast<uint8_t>(now - nearest(left, up, corner))};
            for (int k = 0; k < kFilters; ++k) {
                tried[k][x] = values[k];
                costs[k] += std::min<int>(values[k], 256 - values[k]);
            }
        }
        const auto best = std::min_element(costs, costs + kFilters) - costs;
        found.push_back(static_cast<char>(best));
        found.append(reinterpret_cast<const char*>(tried[best].data()), line);
        std::swap(padded, above);
    }
    return bytes_of(found);
}

}  // namespace

void add_summaries(nb::module_& module) {
    module.def("scalar_summary", &scalar_summary, nb::arg("tag"), nb::arg("number"));
    module.def("histogram_summary", &histogram_summary, nb::arg("tag"), nb::arg("values"), nb::arg("count"), nb::arg("is_double"),
               nb::arg("name"));
    module.def("image_pixels", &image_pixels, nb::arg("image"), nb::arg("pixels"), nb::arg("depth"), nb::arg("bad_colour"));
    module.def("image_summary", &image_summary, nb::arg("tag"), nb::arg("height"), nb::arg("width"), nb::arg("depth"), nb::arg("encoded"));
    module.def("merged_summary", &merged_summary, nb::arg("summaries"));
    module.def("summary_record", &summary_record, nb::arg("summary"), nb::arg("wall_time"), nb::arg("step"), nb::arg("seen"));
    module.def("filtered_lines", &filtered_lines, nb::arg("pixels"), nb::arg("height"), nb::arg("line"), nb::arg("pixel"));
}

}  // namespace everflow
