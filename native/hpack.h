// Headers as HTTP/2 writes them (RFC 7541): read in every form, written plainly.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace everflow {

// The names and values that have a number from the start.
constexpr std::array<std::pair<std::string_view, std::string_view>, 61> kStaticHeaders = {{
    {":authority", ""}, {":method", "GET"}, {":method", "POST"}, {":path", "/"}, {":path", "/index.html"}, {":scheme", "http"},
    {":scheme", "https"}, {":status", "200"}, {":status", "204"}, {":status", "206"}, {":status", "304"}, {":status", "400"},
    {":status", "404"}, {":status", "500"}, {"accept-charset", ""}, {"accept-encoding", "gzip, deflate"}, {"accept-language", ""},
    {"accept-ranges", ""}, {"accept", ""}, {"access-control-allow-origin", ""}, {"age", ""}, {"allow", ""}, {"authorization", ""},
    {"cache-control", ""}, {"content-disposition", ""}, {"content-encoding", ""}, {"content-language", ""}, {"content-length", ""},
    {"content-location", ""}, {"content-range", ""}, {"content-type", ""}, {"cookie", ""}, {"date", ""}, {"etag", ""}, {"expect", ""},
    {"expires", ""}, {"from", ""}, {"host", ""}, {"if-match", ""}, {"if-modified-since", ""}, {"if-none-match", ""}, {"if-range", ""},
    {"if-unmodified-since", ""}, {"last-modified", ""}, {"link", ""}, {"location", ""}, {"max-forwards", ""}, {"proxy-authenticate", ""},
    {"proxy-authorization", ""}, {"range", ""}, {"referer", ""}, {"refresh", ""}, {"retry-after", ""}, {"server", ""}, {"set-cookie", ""},
    {"strict-transport-security", ""}, {"transfer-encoding", ""}, {"user-agent", ""}, {"vary", ""}, {"via", ""}, {"www-authenticate", ""},
}};

// The code of a byte is as long as this says; codes of one length follow each other in the order of their bytes, and shorter ones come
// before longer ones. The last is the end, which must not occur.
constexpr std::array<uint8_t, 257> kHuffmanLengths = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
};

class Huffman {
  public:
    static constexpr int kLongest = 30;

    // False where the text is none.
    static bool read(std::string_view text, std::string& found) {
        static const Huffman codes;
        found.clear();
        uint32_t code = 0;
        int length = 0;
        for (const char byte : text) {
            for (int bit = 7; bit >= 0; --bit) {
                code = code << 1 | (static_cast<uint8_t>(byte) >> bit & 1);
                if (++length > kLongest) return false;
                const uint32_t place = code - codes.first_[length];
                if (code < codes.first_[length] || place >= codes.count_[length]) continue;
                const uint16_t symbol = codes.symbols_[codes.index_[length] + place];
                if (symbol == 256) return false;
                found.push_back(static_cast<char>(symbol));
                code = 0;
                length = 0;
            }
        }
        // What fills the last byte is the beginning of the end's code: ones, fewer than eight.
        return length < 8 && code == (1u << length) - 1;
    }

  private:
    Huffman() {
        uint32_t code = 0;
        uint16_t placed = 0;
        for (int length = 1; length <= kLongest; ++length) {
            code <<= 1;
            first_[length] = code;
            index_[length] = placed;
            for (uint16_t symbol = 0; symbol < kHuffmanLengths.size(); ++symbol) {
                if (kHuffmanLengths[symbol] != length) continue;
                symbols_[placed++] = symbol;
                ++count_[length];
                ++code;
            }
        }
    }

    std::array<uint32_t, kLongest + 1> first_{}, count_{};
    std::array<uint16_t, kLongest + 1> index_{};
    std::array<uint16_t, 257> symbols_{};
};

// Reads the headers of one direction of a connection, which may name those that came before.
class HeaderReader {
  public:
    // Calls take(name, value) for each header of a block; false where the block makes no sense.
    template <typename Take>
    bool read(std::string_view block, const Take& take) {
        const auto* at = reinterpret_cast<const uint8_t*>(block.data());
        const uint8_t* const end = at + block.size();
        while (at != end) {
            const uint8_t first = *at;
            uint64_t number;
            if (first & 0x80) {
                std::string_view name, value;
                if (!integer(at, end, 7, number) || !known(number, name, value)) return false;
                take(name, value);
            } else if ((first & 0xe0) == 0x20) {
                if (!integer(at, end, 5, number) || number > kMost) return false;
                limit_ = number;
                shrink(limit_);
            } else {
                const bool kept = first & 0x40;
                std::string_view name, value;
                if (!integer(at, end, kept ? 6 : 4, number)) return false;
                if (number ? !known(number, name, value) : !text(at, end, name, name_)) return false;
                if (!text(at, end, value, value_)) return false;
                take(name, value);
                if (kept) keep(name, value);
            }
        }
        return true;
    }

  private:
    // What we have never told peers to change.
    static constexpr size_t kMost = 4096;

    static bool integer(const uint8_t*& at, const uint8_t* end, int bits, uint64_t& value) {
        const uint8_t mask = static_cast<uint8_t>((1 << bits) - 1);
        value = *at++ & mask;
        if (value < mask) return true;
        for (int shift = 0; shift < 28; shift += 7) {
            if (at == end) return false;
            const uint8_t byte = *at++;
            value += static_cast<uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

    static bool text(const uint8_t*& at, const uint8_t* end, std::string_view& found, std::string& room) {
        if (at == end) return false;
        const bool is_coded = *at & 0x80;
        uint64_t size;
        if (!integer(at, end, 7, size) || size > static_cast<uint64_t>(end - at)) return false;
        found = {reinterpret_cast<const char*>(at), static_cast<size_t>(size)};
        at += size;
        if (is_coded) {
            if (!Huffman::read(found, room)) return false;
            found = room;
        }
        return true;
    }

    bool known(uint64_t number, std::string_view& name, std::string_view& value) const {
        if (number == 0) return false;
        if (number <= kStaticHeaders.size()) {
            std::tie(name, value) = kStaticHeaders[number - 1];
            return true;
        }
        number -= kStaticHeaders.size() + 1;
        if (number >= table_.size()) return false;
        name = table_[number].first;
        value = table_[number].second;
        return true;
    }

    void keep(std::string_view name, std::string_view value) {
        const size_t size = name.size() + value.size() + 32;
        // The name may be that of a header which makes room.
        std::pair<std::string, std::string> entry(name, value);
        shrink(size > limit_ ? 0 : limit_ - size);
        if (size > limit_) return;
        table_.push_front(std::move(entry));
        size_ += size;
    }

    void shrink(size_t limit) {
        while (size_ > limit) {
            size_ -= table_.back().first.size() + table_.back().second.size() + 32;
            table_.pop_back();
        }
    }

    std::deque<std::pair<std::string, std::string>> table_;
    size_t size_ = 0, limit_ = kMost;
    std::string name_, value_;
};

inline void put_integer(std::string& out, uint8_t first, int bits, uint64_t value) {
    const uint64_t mask = (1u << bits) - 1;
    if (value < mask) {
        out.push_back(static_cast<char>(first | value));
        return;
    }
    out.push_back(static_cast<char>(first | mask));
    for (value -= mask; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
}

// A header that nobody has to remember; `number` is that of its name among the static ones, or 0.
inline void put_header(std::string& out, uint8_t number, std::string_view name, std::string_view value) {
    put_integer(out, 0, 4, number);
    if (!number) {
        put_integer(out, 0, 7, name.size());
        out.append(name);
    }
    put_integer(out, 0, 7, value.size());
    out.append(value);
}

}  // namespace everflow
