// Sketches of weighted numbers in little memory (after Zhang and Wang, "A fast algorithm for approximate quantiles in high speed data
// streams"): summaries in levels, each of about as many entries, of which the ranks are right up to a part of the whole weight.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "learning.h"
#include "wire.h"

namespace nb = nanobind;

namespace everflow {
namespace {

template <typename T, int Rank>
using Array = nb::ndarray<T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig>;
using Rows = nb::ndarray<nb::numpy, float, nb::ndim<2>, nb::c_contig>;

// A value, its weight, and the least and the most weight that the values up to it may have.
struct Entry {
    float value, weight, least, most;

    float most_before() const { return most - weight; }
    float least_after() const { return least + weight; }
};
static_assert(sizeof(Entry) == 4 * sizeof(float), "rows of four numbers");

using Summary = std::vector<Entry>;

float total(const Summary& summary) { return summary.empty() ? 0.0f : summary.back().most; }

// The summary of what two summaries are of.
Summary merged(const Summary& a, const Summary& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    Summary found;
    found.reserve(a.size() + b.size());
    float after_a = 0, after_b = 0;
    size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        const bool has_a = i < a.size(), has_b = j < b.size();
        if (has_a && (!has_b || a[i].value < b[j].value)) {
            const Entry& own = a[i++];
            found.push_back({own.value, own.weight, own.least + after_b, own.most + (has_b ? b[j].most_before() : total(b))});
            after_a = own.least_after();
        } else if (has_b && (!has_a || b[j].value < a[i].value)) {
            const Entry& own = b[j++];
            found.push_back({own.value, own.weight, own.least + after_a, own.most + (has_a ? a[i].most_before() : total(a))});
            after_b = own.least_after();
        } else {
            const Entry &one = a[i++], &other = b[j++];
            found.push_back({one.value, one.weight + other.weight, one.least + other.least, one.most + other.most});
            after_a = one.least_after();
            after_b = other.least_after();
        }
    }
    return found;
}

// Keeps about so many entries, the first and the last among them, so that ranks become wrong by no more than that part of the weight.
void compress(Summary& summary, int64_t size, double part) {
    size = std::max<int64_t>(size, 2);
    const auto count = static_cast<int64_t>(summary.size());
    if (count <= size) return;
    const double slack = total(summary) * std::max(1.0 / static_cast<double>(size), part);
    size_t kept = 1, at = 0;
    int64_t skipped = 0;
    while (at + 1 < summary.size()) {
        size_t next = at + 1;
        while (next < summary.size() && skipped < count && summary[next].most_before() - summary[at].least_after() <= slack) {
            skipped += size;
            ++next;
        }
        at = std::max(at + 1, next - 1);
        summary[kept++] = summary[at];
        skipped -= count;
    }
    summary.resize(kept);
}

// How far a rank may be from the truth, as a part of the whole weight.
double error_of(const Summary& summary) {
    if (summary.empty()) return 0;
    float gap = 0;
    for (size_t i = 1; i < summary.size(); ++i) {
        const Entry& own = summary[i];
        gap = std::max(gap, std::max(own.most - own.least - own.weight, own.most_before() - summary[i - 1].least_after()));
    }
    return static_cast<double>(gap) / total(summary);
}

Summary summary_of(const float* rows, size_t count) {
    Summary found(count);
    if (count) std::memcpy(found.data(), rows, count * sizeof(Entry));
    return found;
}

Rows rows_of(const Summary& summary) {
    auto* data = new float[4 * summary.size() + 1];
    if (!summary.empty()) std::memcpy(data, summary.data(), summary.size() * sizeof(Entry));
    const size_t shape[2] = {summary.size(), 4};
    return Rows(data, 2, shape, nb::capsule(data, [](void* memory) noexcept { delete[] static_cast<float*>(memory); }));
}

Numbers numbers_of(const std::vector<float>& values) {
    auto* data = new float[values.size() + 1];
    std::copy(values.begin(), values.end(), data);
    const size_t shape[1] = {values.size()};
    return Numbers(data, 1, shape, nb::capsule(data, [](void* memory) noexcept { delete[] static_cast<float*>(memory); }));
}

class QuantileStream {
  public:
    QuantileStream(double part, int64_t most_elements) : part_(part) {
        if (!(part > 0 && part < 1)) throw nb::value_error("An epsilon value of zero is not allowed.");
        if (most_elements <= 0) throw nb::value_error("a stream is of at least one number");
        if (part <= std::numeric_limits<double>::epsilon()) {
            block_ = std::max<int64_t>(most_elements, 2);
        } else {
            // Each level becomes full half as often as the one below; the last of them, at most once.
            for (int64_t levels = 1; (int64_t{1} << levels) * block_ < most_elements; ++levels) {
                block_ = static_cast<int64_t>(std::ceil(static_cast<double>(levels) / part)) + 1;
            }
            block_ = std::max<int64_t>(block_, 2);
        }
        room_ = static_cast<size_t>(std::min(block_ << 1, most_elements));
    }

    void push(Array<const float, 1> values, Array<const float, 1> weights) {
        if (weights.shape(0) != 1 && weights.shape(0) != values.shape(0)) throw nb::value_error("a weight for each number, or one for all");
        const bool one = weights.shape(0) == 1;
        for (size_t i = 0; i < values.shape(0); ++i) {
            const float weight = weights.data()[one ? 0 : i];
            if (weight > 0) buffer_.push_back({values.data()[i], weight});
            if (buffer_.size() >= room_) push_buffer();
        }
    }

    void push_summary(Array<const float, 2> rows) {
        if (rows.shape(1) != 4) throw nb::value_error("four numbers a row");
        local_ = summary_of(rows.data(), rows.shape(0));
        settle();
    }

    void finish() {
        push_buffer();
        local_.clear();
        for (const Summary& level : levels_) local_ = merged(local_, level);
        levels_.clear();
    }

    Rows summary() const { return rows_of(local_); }

    std::vector<Rows> summaries() const {
        std::vector<Rows> found;
        for (const Summary& level : levels_) found.push_back(rows_of(level));
        found.push_back(rows_of(local_));
        return found;
    }

    void restore(const std::vector<Array<const float, 2>>& summaries) {
        if (summaries.empty()) throw nb::value_error("no summary");
        buffer_.clear();
        levels_.clear();
        for (const auto& rows : summaries) {
            if (rows.shape(1) != 4) throw nb::value_error("four numbers a row");
            levels_.push_back(summary_of(rows.data(), rows.shape(0)));
        }
        local_ = std::move(levels_.back());
        levels_.pop_back();
    }

    // Boundaries of about so many buckets, each once.
    Numbers boundaries(int64_t count) const {
        std::vector<float> found;
        if (!local_.empty()) {
            Summary fewer = local_;
            const auto part = static_cast<float>(error_of(local_) + 1.0 / static_cast<double>(count));
            compress(fewer, count, part);
            for (const Entry& own : fewer) {
                if (found.empty() || found.back() != own.value) found.push_back(own.value);
            }
        }
        return numbers_of(found);
    }

    // The values that cut the weight into so many equal parts, with the first and the last value.
    Numbers quantiles(int64_t count) const {
        std::vector<float> found;
        count = std::max<int64_t>(count, 2);
        size_t at = 0;
        for (int64_t rank = 0; !local_.empty() && rank <= count; ++rank) {
            const float twice = 2 * (static_cast<float>(rank) * local_.back().most / static_cast<float>(count));
            size_t next = at + 1;
            while (next < local_.size() && twice >= local_[next].least + local_[next].most) ++next;
            at = next - 1;
            const bool stays = next == local_.size() || twice < local_[at].least_after() + local_[next].most_before();
            found.push_back(local_[stays ? at : next].value);
        }
        return numbers_of(found);
    }

  private:
    struct Weighted {
        float value, weight;
        bool operator<(const Weighted& other) const { return value < other.value; }
    };

    void push_buffer() {
        std::sort(buffer_.begin(), buffer_.end());
        local_.clear();
        for (size_t i = 0; i < buffer_.size(); ++i) {
            if (i && buffer_[i].value == buffer_[i - 1].value) {
                local_.back().weight += buffer_[i].weight;
            } else {
                local_.push_back({buffer_[i].value, buffer_[i].weight, 0, 0});
            }
        }
        buffer_.clear();
        float before = 0;
        for (Entry& own : local_) {
            own.least = before;
            own.most = before += own.weight;
        }
        settle();
    }

    // Brings the local summary into the lowest level that has room.
    void settle() {
        compress(local_, block_, part_);
        if (local_.empty()) return;
        for (size_t i = 0;; ++i) {
            if (levels_.size() <= i) levels_.emplace_back();
            Summary& level = levels_[i];
            local_ = merged(local_, level);
            if (level.empty() || static_cast<int64_t>(local_.size()) <= block_ + 1) {
                level = std::move(local_);
                local_.clear();
                return;
            }
            compress(local_, block_, part_);
            level.clear();
        }
    }

    double part_;
    int64_t block_ = 2;
    size_t room_ = 2;
    std::vector<Weighted> buffer_;
    Summary local_;
    std::vector<Summary> levels_;
};

void put_float(std::string& text, uint32_t field, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (bits == 0) return;
    text.push_back(static_cast<char>(tag_of(field, kFixed32)));
    text.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}

// A summary as a message: its entries, each with a value, a weight and two ranks.
nb::bytes message_of_summary(Array<const float, 2> rows) {
    if (rows.shape(1) != 4) throw nb::value_error("four numbers a row");
    std::string text, entry;
    text.reserve(rows.shape(0) * 22);
    for (size_t i = 0; i < rows.shape(0); ++i) {
        entry.clear();
        for (uint32_t field = 0; field < 4; ++field) put_float(entry, field + 1, rows.data()[4 * i + field]);
        text.push_back(static_cast<char>(tag_of(1, kBytes)));
        text.push_back(static_cast<char>(entry.size()));
        text += entry;
    }
    return nb::bytes(text.data(), text.size());
}

Rows summary_of_message(nb::bytes message) {
    Summary found;
    const auto take = [&found](std::string_view entry) {
        Reader reader(entry);
        float numbers[4] = {};
        while (!reader.done()) {
            uint32_t tag;
            const char* word;
            if (!reader.tag(tag)) return false;
            const uint32_t field = tag >> 3;
            if (field >= 1 && field <= 4 && (tag & 7) == kFixed32) {
                if (!reader.fixed(4, word)) return false;
                std::memcpy(&numbers[field - 1], word, 4);
            } else if (!reader.skip(tag)) {
                return false;
            }
        }
        found.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
        return true;
    };
    if (!for_each_bytes({message.c_str(), message.size()}, 1, take)) throw nb::value_error("not a summary");
    return rows_of(found);
}

}  // namespace

void add_quantiles(nb::module_& module) {
    nb::class_<QuantileStream>(module, "QuantileStream", "A sketch of weighted numbers, from which quantiles are read.")
        .def(nb::init<double, int64_t>(), nb::arg("epsilon"), nb::arg("max_elements"))
        .def("push", &QuantileStream::push, nb::arg("values"), nb::arg("weights"), "Adds numbers; one weight may be for all.")
        .def("push_summary", &QuantileStream::push_summary, nb::arg("rows"), "Adds what a summary is of.")
        .def("finish", &QuantileStream::finish, "Makes one summary of all levels.")
        .def("summary", &QuantileStream::summary, "Rows of value, weight, least and most rank.")
        .def("summaries", &QuantileStream::summaries, "The summaries of the levels, and the one outside of them.")
        .def("restore", &QuantileStream::restore, nb::arg("summaries"), "Takes what `summaries` gave.")
        .def("boundaries", &QuantileStream::boundaries, nb::arg("count"), "Boundaries of about so many buckets.")
        .def("quantiles", &QuantileStream::quantiles, nb::arg("count"), "The values that cut the weight into so many equal parts.");
    module.def("message_of_summary", &message_of_summary, nb::arg("rows"), "A summary as a serialized QuantileSummaryState.");
    module.def("summary_of_message", &summary_of_message, nb::arg("message"), "The summary in a serialized QuantileSummaryState.");
}

}  // namespace everflow
