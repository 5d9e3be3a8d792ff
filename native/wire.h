// Protocol buffer messages, read where they lie.
#pragma once

#include <cstdint>
#include <string_view>

namespace everflow {

// How a field is encoded: the low three bits of its tag.
enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint32_t tag_of(uint32_t field, Wire wire) { return field << 3 | wire; }

// A position in a message. Each function returns false where the message ends too early or makes no sense.
class Reader {
  public:
    explicit Reader(std::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

    bool done() const { return at_ == end_; }

    size_t left() const { return static_cast<size_t>(end_ - at_); }

    bool varint(uint64_t& value) {
        if (at_ != end_ && static_cast<int8_t>(*at_) >= 0) {
            value = static_cast<uint8_t>(*at_++);
            return true;
        }
        value = 0;
        for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
            const auto byte = static_cast<uint8_t>(*at_++);
            value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

    bool tag(uint32_t& value) {
        uint64_t wide;
        if (!varint(wide) || wide > UINT32_MAX || wide >> 3 == 0) return false;
        value = static_cast<uint32_t>(wide);
        return true;
    }

    bool bytes(std::string_view& value) {
        uint64_t size;
        if (!varint(size) || size > static_cast<uint64_t>(end_ - at_)) return false;
        value = {at_, static_cast<size_t>(size)};
        at_ += size;
        return true;
    }

    bool fixed(size_t size, const char*& value) {
        if (static_cast<size_t>(end_ - at_) < size) return false;
        value = at_;
        at_ += size;
        return true;
    }

    bool skip(uint32_t tag) {
        uint64_t number;
        std::string_view text;
        const char* word;
        switch (tag & 7) {
            case kVarint: return varint(number);
            case kFixed64: return fixed(8, word);
            case kBytes: return bytes(text);
            case kFixed32: return fixed(4, word);
            default: return false;
        }
    }

  private:
    const char* at_;
    const char* end_;
};

// Calls take(bytes) for each length-delimited field of this number; false where the message is broken or `take` says so.
template <typename Take>
bool for_each_bytes(std::string_view message, uint32_t field, const Take& take) {
    Reader reader(message);
    while (!reader.done()) {
        uint32_t tag;
        if (!reader.tag(tag)) return false;
        std::string_view value;
        if (tag == tag_of(field, kBytes)) {
            if (!reader.bytes(value) || !take(value)) return false;
        } else if (!reader.skip(tag)) {
            return false;
        }
    }
    return true;
}

}  // namespace everflow
