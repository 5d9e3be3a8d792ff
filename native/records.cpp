// Record files: a length (8 bytes) with its checksum, then the data with theirs. All numbers are little-endian.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "processor.h"
#include "records.h"
#include "text.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr uint32_t kCastagnoli = 0x82f63b78;  // CRC-32C, bits reversed
constexpr uint32_t kMaskDelta = 0xa282ead8;
constexpr size_t kHeader = 12, kFooter = 4;

struct Tables {
    Tables() {
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t crc = i;
            for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kCastagnoli : 0);
            at[0][i] = crc;
        }
        for (int k = 1; k < 8; ++k) {
            for (uint32_t i = 0; i < 256; ++i) at[k][i] = at[k - 1][i] >> 8 ^ at[0][at[k - 1][i] & 255];
        }
    }
    uint32_t at[8][256];
};

uint32_t extended_by_table(uint32_t crc, const char* data, size_t size) {
    static const Tables tables;
    const auto& at = tables.at;
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        std::memcpy(&word, data, 8);
        word ^= crc;
        crc = 0;
        for (int k = 0; k < 8; ++k) crc ^= at[7 - k][word >> 8 * k & 255];
    }
    for (; size; ++data, --size) crc = crc >> 8 ^ at[0][(crc ^ static_cast<uint8_t>(*data)) & 255];
    return crc;
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
__attribute__((target("sse4.2"))) uint32_t extended_by_processor(uint32_t crc, const char* data, size_t size) {
    uint64_t wide = crc;
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        std::memcpy(&word, data, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = static_cast<uint32_t>(wide);
    for (; size; ++data, --size) crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(*data));
    return crc;
}

uint32_t extended(uint32_t crc, const char* data, size_t size) {
    // All processors with AVX2 have SSE4.2.
    return processor() >= Processor::avx2 ? extended_by_processor(crc, data, size) : extended_by_table(crc, data, size);
}
#else
uint32_t extended(uint32_t crc, const char* data, size_t size) { return extended_by_table(crc, data, size); }
#endif

uint32_t crc32c(std::string_view data) { return ~extended(~uint32_t{0}, data.data(), data.size()); }

// Checksums are stored masked, so that the checksum of data that holds checksums stays useful.
uint32_t masked(std::string_view data) {
    const uint32_t crc = crc32c(data);
    return (crc >> 15 | crc << 17) + kMaskDelta;
}

template <typename Word>
Word word_at(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

std::string_view view_of(const nb::bytes& data) { return {data.c_str(), data.size()}; }

// The whole records in a piece of a file, where the next one begins, and where a checksum is wrong (-1 if nowhere).
nb::tuple split_records(const nb::bytes& piece, size_t start) {
    const std::string_view all = view_of(piece);
    nb::list records;
    ptrdiff_t wrong = -1;
    while (start <= all.size() && all.size() - start >= kHeader) {
        const char* const header = all.data() + start;
        if (masked({header, 8}) != word_at<uint32_t>(header + 8)) {
            wrong = static_cast<ptrdiff_t>(start);
            break;
        }
        const auto length = word_at<uint64_t>(header);
        const size_t rest = all.size() - start - kHeader;
        if (length > rest || rest - length < kFooter) break;
        const std::string_view data(header + kHeader, length);
        if (masked(data) != word_at<uint32_t>(data.data() + length)) {
            wrong = static_cast<ptrdiff_t>(start + kHeader);
            break;
        }
        records.append(nb::bytes(data.data(), data.size()));
        start += kHeader + length + kFooter;
    }
    return nb::make_tuple(records, start, wrong);
}

}  // namespace

std::string framed(std::string_view data) {
    std::string found(kHeader + data.size() + kFooter, '\0');
    const uint64_t length = data.size();
    std::memcpy(found.data(), &length, 8);
    const uint32_t of_length = masked({found.data(), 8}), of_data = masked(data);
    std::memcpy(found.data() + 8, &of_length, 4);
    std::memcpy(found.data() + kHeader, data.data(), data.size());
    std::memcpy(found.data() + kHeader + data.size(), &of_data, 4);
    return found;
}

namespace {

nb::bytes framed_record(const nb::bytes& record) {
    const std::string found = framed(view_of(record));
    return nb::bytes(found.data(), found.size());
}

}  // namespace

void add_records(nb::module_& module) {
    module.def("split_records", &split_records, nb::arg("piece"), nb::arg("start"));
    module.def("framed_record", &framed_record, nb::arg("record"));
    module.def("crc32c", [](const nb::bytes& data) { return crc32c(view_of(data)); }, nb::arg("data"));
    module.def("masked_crc32c", [](const nb::bytes& data) { return masked(view_of(data)); }, nb::arg("data"));
}

}  // namespace everflow
