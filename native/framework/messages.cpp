// Protocol buffers: their bytes and their text, for whatever fields messages show (google/protobuf/message.h).
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace google {
namespace protobuf {
inline namespace everflow {
namespace {

enum Wire : uint32 { VARINT = 0, EIGHT_BYTES = 1, SIZED = 2, GROUP = 3, GROUP_END = 4, FOUR_BYTES = 5 };

Wire wire_of(Kind kind) {
    switch (kind) {
        case Kind::FIXED32:
        case Kind::SFIXED32:
        case Kind::FLOAT: return FOUR_BYTES;
        case Kind::FIXED64:
        case Kind::SFIXED64:
        case Kind::DOUBLE: return EIGHT_BYTES;
        case Kind::STRING:
        case Kind::BYTES:
        case Kind::MESSAGE: return SIZED;
        default: return VARINT;
    }
}

// -- numbers as 64 bits, whatever their kind

uint64 bits_of(Kind kind, const void* value) {
    switch (kind) {
        case Kind::INT32:
        case Kind::ENUM: return static_cast<uint64>(static_cast<int64>(*static_cast<const int32*>(value)));
        case Kind::SINT32: {
            const int32 number = *static_cast<const int32*>(value);
            return (static_cast<uint32>(number) << 1) ^ static_cast<uint32>(number >> 31);
        }
        case Kind::SINT64: {
            const int64 number = *static_cast<const int64*>(value);
            return (static_cast<uint64>(number) << 1) ^ static_cast<uint64>(number >> 63);
        }
        case Kind::UINT32:
        case Kind::FIXED32:
        case Kind::SFIXED32:
        case Kind::FLOAT: {
            uint32 bits;
            std::memcpy(&bits, value, sizeof bits);
            return bits;
        }
        case Kind::BOOL: return *static_cast<const bool*>(value);
        default: {
            uint64 bits;
            std::memcpy(&bits, value, sizeof bits);
            return bits;
        }
    }
}

void set_bits(Kind kind, uint64 bits, void* value) {
    switch (kind) {
        case Kind::INT32:
        case Kind::UINT32:
        case Kind::ENUM:
        case Kind::FIXED32:
        case Kind::SFIXED32:
        case Kind::FLOAT: {
            const uint32 low = static_cast<uint32>(bits);
            std::memcpy(value, &low, sizeof low);
            break;
        }
        case Kind::SINT32: *static_cast<int32*>(value) = static_cast<int32>(static_cast<uint32>(bits >> 1) ^ (0u - static_cast<uint32>(bits & 1))); break;
        case Kind::SINT64: *static_cast<int64*>(value) = static_cast<int64>((bits >> 1) ^ (0ull - (bits & 1))); break;
        case Kind::BOOL: *static_cast<bool*>(value) = bits != 0; break;
        default: std::memcpy(value, &bits, sizeof bits);
    }
}

void append_varint(uint64 value, std::string* to) {
    for (; value >= 128; value >>= 7) to->push_back(static_cast<char>(value | 128));
    to->push_back(static_cast<char>(value));
}

void append_number(Kind kind, const void* value, std::string* to) {
    const uint64 bits = bits_of(kind, value);
    const Wire wire = wire_of(kind);
    if (wire == VARINT) return append_varint(bits, to);
    for (int i = 0, n = wire == FOUR_BYTES ? 4 : 8; i < n; ++i) to->push_back(static_cast<char>(bits >> 8 * i));
}

}  // namespace

// -- bytes

class WireWriter : public Fields {
public:
    explicit WireWriter(std::string* to) : to_(to) {}

    static void Write(const Message& message, std::string* to) {
        WireWriter writer(to);
        // Visitors may change fields; this one does not.
        const_cast<Message&>(message).Visit(writer);
        *to += message.unknown_;
    }

    void Number(const Field& field, void* value) override {
        if (field.which ? *field.which != field.number : bits_of(field.kind, value) == 0) return;
        Tag(field.number, wire_of(field.kind));
        append_number(field.kind, value, to_);
    }
    void Text(const Field& field, std::string* value) override {
        if (field.which ? *field.which != field.number : value->empty()) return;
        Sized(field.number, *value);
    }
    void Nested(const Field& field, MessagePlace* value) override {
        if (field.which && *field.which != field.number) return;
        if (const Message* message = value->Get()) Inner(field.number, *message);
    }
    void Numbers(const Field& field, NumberList* values) override {
        if (!values->Size()) return;
        std::string packed;
        for (int i = 0, n = values->Size(); i < n; ++i) append_number(field.kind, values->At(i), &packed);
        Sized(field.number, packed);
    }
    void Texts(const Field& field, RepeatedPtrField<std::string>* values) override {
        for (const std::string& value : *values) Sized(field.number, value);
    }
    void Several(const Field& field, MessageList* values) override {
        for (int i = 0, n = values->Size(); i < n; ++i) Inner(field.number, *values->At(i));
    }
    void Entries(const Field& field, EntryList* entries) override {
        while (const Message* entry = entries->Next()) Inner(field.number, *entry);
    }

private:
    void Tag(int number, Wire wire) { append_varint(static_cast<uint64>(number) << 3 | wire, to_); }
    void Sized(int number, const std::string& content) {
        Tag(number, SIZED);
        append_varint(content.size(), to_);
        *to_ += content;
    }
    void Inner(int number, const Message& message) {
        std::string content;
        Write(message, &content);
        Sized(number, content);
    }

    std::string* to_;
};

// Has the field with the number that was read take what follows it.
class WireReader : public Fields {
public:
    WireReader(const char* at, const char* end, int depth) : at_(at), end_(end), depth_(depth) {}

    static bool Read(const char* data, size_t size, Message* into, int depth = 0) {
        if (depth > 100) return false;
        WireReader reader(data, data + size, depth);
        while (reader.at_ != reader.end_) {
            const char* const start = reader.at_;
            uint64 tag = 0;
            if (!reader.Varint(&tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
            reader.number_ = static_cast<int>(tag >> 3), reader.wire_ = static_cast<Wire>(tag & 7);
            reader.taken_ = false, reader.failed_ = false;
            into->Visit(reader);
            if (reader.failed_) return false;
            if (reader.taken_) continue;
            if (!reader.Skip(0)) return false;
            into->unknown_.append(start, reader.at_);
        }
        return true;
    }

    void Number(const Field& field, void* value) override {
        if (!Mine(field, wire_of(field.kind))) return;
        uint64 bits = 0;
        if (!Bits(wire_, &bits)) return Fail();
        set_bits(field.kind, bits, value);
        if (field.which) *field.which = field.number;
    }
    void Text(const Field& field, std::string* value) override {
        const char* content = nullptr;
        size_t size = 0;
        if (!Mine(field, SIZED)) return;
        if (!Sized(&content, &size)) return Fail();
        value->assign(content, size);
        if (field.which) *field.which = field.number;
    }
    void Nested(const Field& field, MessagePlace* value) override {
        if (!Mine(field, SIZED)) return;
        if (field.which && *field.which != field.number) *field.which = field.number, value->Clear();
        Inner(value->Make());
    }
    void Numbers(const Field& field, NumberList* values) override {
        if (field.number != number_ || taken_) return;
        const Wire wire = wire_of(field.kind);
        uint64 bits = 0;
        if (wire_ == wire) {
            taken_ = true;
            if (!Bits(wire, &bits)) return Fail();
            set_bits(field.kind, bits, values->Add());
        } else if (wire_ == SIZED) {
            taken_ = true;
            const char* content = nullptr;
            size_t size = 0;
            if (!Sized(&content, &size)) return Fail();
            WireReader packed(content, content + size, depth_);
            while (packed.at_ != packed.end_) {
                if (!packed.Bits(wire, &bits)) return Fail();
                set_bits(field.kind, bits, values->Add());
            }
        }
    }
    void Texts(const Field& field, RepeatedPtrField<std::string>* values) override {
        const char* content = nullptr;
        size_t size = 0;
        if (!Mine(field, SIZED)) return;
        if (!Sized(&content, &size)) return Fail();
        values->Add()->assign(content, size);
    }
    void Several(const Field& field, MessageList* values) override {
        if (Mine(field, SIZED)) Inner(values->Add());
    }
    void Entries(const Field& field, EntryList* entries) override {
        if (!Mine(field, SIZED)) return;
        const std::unique_ptr<Message> entry(entries->New());
        Inner(entry.get());
        if (!failed_) entries->Put(entry.get());
    }

private:
    // A field that comes on the wire as another kind than it has is one that is not known.
    bool Mine(const Field& field, Wire wire) {
        if (field.number != number_ || wire_ != wire || taken_) return false;
        return taken_ = true;
    }
    void Fail() { failed_ = true; }
    bool Varint(uint64* value) {
        *value = 0;
        for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
            const unsigned char byte = static_cast<unsigned char>(*at_++);
            if (shift < 64) *value |= static_cast<uint64>(byte & 127) << shift;
            if (byte < 128) return true;
        }
        return false;
    }
    bool Bits(Wire wire, uint64* bits) {
        if (wire == VARINT) return Varint(bits);
        const int count = wire == FOUR_BYTES ? 4 : 8;
        if (end_ - at_ < count) return false;
        *bits = 0;
        for (int i = 0; i < count; ++i) *bits |= static_cast<uint64>(static_cast<unsigned char>(*at_++)) << 8 * i;
        return true;
    }
    bool Sized(const char** content, size_t* size) {
        uint64 count = 0;
        if (!Varint(&count) || count > static_cast<uint64>(end_ - at_)) return false;
        *content = at_, *size = static_cast<size_t>(count);
        at_ += count;
        return true;
    }
    void Inner(Message* message) {
        const char* content = nullptr;
        size_t size = 0;
        if (!Sized(&content, &size) || !Read(content, size, message, depth_ + 1)) Fail();
    }
    bool Skip(int depth) {
        const char* content = nullptr;
        size_t size = 0;
        uint64 bits = 0;
        switch (wire_) {
            case VARINT:
            case FOUR_BYTES:
            case EIGHT_BYTES: return Bits(wire_, &bits);
            case SIZED: return Sized(&content, &size);
            case GROUP: {
                const int group = number_;
                while (depth < 100) {
                    if (!Varint(&bits)) return false;
                    number_ = static_cast<int>(bits >> 3), wire_ = static_cast<Wire>(bits & 7);
                    if (wire_ == GROUP_END) return number_ == group;
                    if (!Skip(depth + 1)) return false;
                }
                return false;
            }
            default: return false;
        }
    }

    const char* at_;
    const char* const end_;
    const int depth_;
    int number_ = 0;
    Wire wire_ = VARINT;
    bool taken_ = false, failed_ = false;
};

namespace {

class Clearing : public Fields {
public:
    void Number(const Field& field, void* value) override {
        set_bits(field.kind, 0, value);
        Unchoose(field);
    }
    void Text(const Field& field, std::string* value) override {
        value->clear();
        Unchoose(field);
    }
    void Nested(const Field& field, MessagePlace* value) override {
        value->Clear();
        Unchoose(field);
    }
    void Numbers(const Field&, NumberList* values) override { values->Clear(); }
    void Texts(const Field&, RepeatedPtrField<std::string>* values) override { values->Clear(); }
    void Several(const Field&, MessageList* values) override { values->Clear(); }
    void Entries(const Field&, EntryList* entries) override { entries->Clear(); }

private:
    static void Unchoose(const Field& field) {
        if (field.which) *field.which = 0;
    }
};

// -- text

std::string shortest(double value, int digits, int most) {
    char text[40];
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    for (; digits <= most; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        if (most > 9 ? std::strtod(text, nullptr) == value : std::strtof(text, nullptr) == static_cast<float>(value)) break;
    }
    return text;
}

std::string escaped(const std::string& text) {
    std::string found;
    for (const char c : text) {
        const unsigned char byte = static_cast<unsigned char>(c);
        char octal[5];
        switch (c) {
            case '\n': found += "\\n"; break;
            case '\r': found += "\\r"; break;
            case '\t': found += "\\t"; break;
            case '"': found += "\\\""; break;
            case '\'': found += "\\'"; break;
            case '\\': found += "\\\\"; break;
            default:
                if (byte >= 32 && byte < 127) {
                    found += c;
                } else {
                    std::snprintf(octal, sizeof octal, "\\%03o", byte);
                    found += octal;
                }
        }
    }
    return found;
}

class Printer : public Fields {
public:
    Printer(bool in_one_line, std::string* to) : in_one_line_(in_one_line), to_(to) {}

    void Number(const Field& field, void* value) override {
        if (field.which ? *field.which != field.number : bits_of(field.kind, value) == 0) return;
        Line(field, ": " + Said(field, value));
    }
    void Text(const Field& field, std::string* value) override {
        if (field.which ? *field.which != field.number : value->empty()) return;
        Line(field, ": \"" + escaped(*value) + "\"");
    }
    void Nested(const Field& field, MessagePlace* value) override {
        if (field.which && *field.which != field.number) return;
        if (Message* message = value->Get()) Block(field, message);
    }
    void Numbers(const Field& field, NumberList* values) override {
        for (int i = 0, n = values->Size(); i < n; ++i) Line(field, ": " + Said(field, values->At(i)));
    }
    void Texts(const Field& field, RepeatedPtrField<std::string>* values) override {
        for (const std::string& value : *values) Line(field, ": \"" + escaped(value) + "\"");
    }
    void Several(const Field& field, MessageList* values) override {
        for (int i = 0, n = values->Size(); i < n; ++i) Block(field, values->At(i));
    }
    void Entries(const Field& field, EntryList* entries) override {
        while (Message* entry = entries->Next()) Block(field, entry);
    }

private:
    static std::string Said(const Field& field, const void* value) {
        switch (field.kind) {
            case Kind::FLOAT: return shortest(*static_cast<const float*>(value), 6, 9);
            case Kind::DOUBLE: return shortest(*static_cast<const double*>(value), 15, 17);
            case Kind::BOOL: return *static_cast<const bool*>(value) ? "true" : "false";
            case Kind::ENUM: {
                const int32 number = *static_cast<const int32*>(value);
                const std::string name = NameOfEnum(field.names, number);
                return name.empty() ? std::to_string(number) : name;
            }
            case Kind::INT32:
            case Kind::SINT32:
            case Kind::SFIXED32: return std::to_string(*static_cast<const int32*>(value));
            case Kind::UINT32:
            case Kind::FIXED32: return std::to_string(*static_cast<const uint32*>(value));
            case Kind::UINT64:
            case Kind::FIXED64: return std::to_string(*static_cast<const uint64*>(value));
            default: return std::to_string(*static_cast<const int64*>(value));
        }
    }
    void Line(const Field& field, const std::string& rest) {
        if (in_one_line_) {
            if (!to_->empty()) *to_ += ' ';
        } else {
            to_->append(static_cast<size_t>(2 * depth_), ' ');
        }
        *to_ += field.name + rest;
        if (!in_one_line_) *to_ += '\n';
    }
    void Block(const Field& field, Message* message) {
        Line(field, " {");
        ++depth_;
        message->Visit(*this);
        --depth_;
        if (in_one_line_) {
            *to_ += " }";
        } else {
            to_->append(static_cast<size_t>(2 * depth_), ' ');
            *to_ += "}\n";
        }
    }

    const bool in_one_line_;
    std::string* const to_;
    int depth_ = 0;
};

// The words of a text, one at a time.
class Words {
public:
    explicit Words(const std::string& text) : text_(text) { Next(); }

    const std::string& word() const { return word_; }
    bool is_text() const { return is_text_; }
    bool at_end() const { return word_.empty() && !is_text_; }
    bool broken() const { return broken_; }
    bool Take(const char* word) {
        if (is_text_ || word_ != word) return false;
        Next();
        return true;
    }
    // Goes on; a text between quotes counts as one word, as what it means.
    void Next() {
        word_.clear(), is_text_ = false;
        while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '#')) {
            if (text_[at_] == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else {
                ++at_;
            }
        }
        if (at_ == text_.size()) return;
        const char first = text_[at_];
        if (first == '"' || first == '\'') {
            is_text_ = true;
            Quoted(first);
        } else if (Belongs(first)) {
            while (at_ < text_.size() && (Belongs(text_[at_]) || (std::strchr("+-", text_[at_]) && std::strchr("eE", word_.back()) && std::isdigit(static_cast<unsigned char>(word_[0]))))) {
                word_ += text_[at_++];
            }
        } else {
            word_ = text_[at_++];
        }
    }

private:
    static bool Belongs(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
    void Quoted(char quote) {
        ++at_;
        while (at_ < text_.size() && text_[at_] != quote) {
            if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
                word_ += text_[at_++];
                continue;
            }
            const char c = text_[++at_];
            if (c >= '0' && c <= '7') {
                int value = 0;
                for (int i = 0; i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i) value = 8 * value + (text_[at_++] - '0');
                word_ += static_cast<char>(value);
            } else if (c == 'x' || c == 'X') {
                char* stop = nullptr;
                const std::string digits = text_.substr(at_ + 1, 2);
                word_ += static_cast<char>(std::strtol(digits.c_str(), &stop, 16));
                at_ += 1 + static_cast<size_t>(stop - digits.c_str());
            } else {
                const char* const found = std::strchr("n\nr\rt\ta\ab\bf\fv\v", c);
                word_ += found && std::isalpha(static_cast<unsigned char>(c)) ? found[1] : c;
                ++at_;
            }
        }
        broken_ = broken_ || at_ == text_.size();
        if (at_ < text_.size()) ++at_;
    }

    const std::string& text_;
    size_t at_ = 0;
    std::string word_;
    bool is_text_ = false, broken_ = false;
};

// Has the field with the name that was read take what follows it.
class TextReader : public Fields {
public:
    explicit TextReader(Words* words) : words_(words) {}

    // Up to `end`, which is empty for the end of the text.
    static bool Read(Words* words, const std::string& end, Message* into, int depth = 0) {
        if (depth > 100) return false;
        while (end.empty() ? !words->at_end() : words->is_text() || words->word() != end) {
            if (words->at_end() || words->is_text() || words->broken()) return false;
            TextReader reader(words);
            reader.name_ = words->word(), reader.depth_ = depth;
            words->Next();
            into->Visit(reader);
            if (!reader.taken_ || reader.failed_) return false;
            if (!words->Take(",")) words->Take(";");
        }
        words->Next();
        return !words->broken();
    }

    void Number(const Field& field, void* value) override {
        if (!Mine(field)) return;
        if (!words_->Take(":") || !Value(field, value)) return Fail();
        if (field.which) *field.which = field.number;
    }
    void Text(const Field& field, std::string* value) override {
        if (!Mine(field)) return;
        if (!words_->Take(":") || !Quoted(value)) return Fail();
        if (field.which) *field.which = field.number;
    }
    void Nested(const Field& field, MessagePlace* value) override {
        if (!Mine(field)) return;
        if (field.which && *field.which != field.number) *field.which = field.number, value->Clear();
        words_->Take(":");
        Inner(value->Make());
    }
    void Numbers(const Field& field, NumberList* values) override {
        if (!Mine(field)) return;
        if (!words_->Take(":")) return Fail();
        Each([&] { return Value(field, values->Add()); });
    }
    void Texts(const Field& field, RepeatedPtrField<std::string>* values) override {
        if (!Mine(field)) return;
        if (!words_->Take(":")) return Fail();
        Each([&] { return Quoted(values->Add()); });
    }
    void Several(const Field& field, MessageList* values) override {
        if (!Mine(field)) return;
        words_->Take(":");
        Each([&] {
            Inner(values->Add());
            return !failed_;
        });
    }
    void Entries(const Field& field, EntryList* entries) override {
        if (!Mine(field)) return;
        words_->Take(":");
        Each([&] {
            const std::unique_ptr<Message> entry(entries->New());
            Inner(entry.get());
            if (!failed_) entries->Put(entry.get());
            return !failed_;
        });
    }

private:
    bool Mine(const Field& field) {
        if (taken_ || name_ != field.name) return false;
        return taken_ = true;
    }
    void Fail() { failed_ = true; }
    // One, or several in brackets.
    template <typename Take>
    void Each(const Take& take) {
        if (!words_->Take("[")) {
            if (!take()) Fail();
            return;
        }
        if (words_->Take("]")) return;
        do {
            if (!take()) return Fail();
        } while (words_->Take(","));
        if (!words_->Take("]")) Fail();
    }
    void Inner(Message* message) {
        const bool angle = words_->Take("<");
        if (!angle && !words_->Take("{")) return Fail();
        if (!Read(words_, angle ? ">" : "}", message, depth_ + 1)) Fail();
    }
    // Texts that stand side by side are one.
    bool Quoted(std::string* value) {
        if (!words_->is_text()) return false;
        value->clear();
        for (; words_->is_text(); words_->Next()) *value += words_->word();
        return true;
    }
    bool Value(const Field& field, void* value) {
        const bool negative = words_->Take("-");
        if (words_->at_end() || words_->is_text()) return false;
        const std::string word = words_->word();
        words_->Next();
        if (field.kind == Kind::BOOL) {
            const bool is_true = word == "true" || word == "True" || word == "t" || word == "1";
            *static_cast<bool*>(value) = is_true;
            return !negative && (is_true || word == "false" || word == "False" || word == "f" || word == "0");
        }
        if (field.kind == Kind::FLOAT || field.kind == Kind::DOUBLE) {
            char* stop = nullptr;
            double number = std::strtod(word.c_str(), &stop);
            const bool whole = *stop == 0 || ((*stop == 'f' || *stop == 'F') && stop[1] == 0 && stop != word.c_str());
            if (negative) number = -number;
            if (field.kind == Kind::FLOAT) *static_cast<float*>(value) = static_cast<float>(number);
            if (field.kind == Kind::DOUBLE) *static_cast<double*>(value) = number;
            return whole;
        }
        if (field.kind == Kind::ENUM && !std::isdigit(static_cast<unsigned char>(word[0]))) return !negative && ParseEnum(field.names, word, static_cast<int32*>(value));
        return Integer(field.kind, negative, word, value);
    }
    static bool Integer(Kind kind, bool negative, const std::string& word, void* value) {
        if (!std::isdigit(static_cast<unsigned char>(word[0]))) return false;
        const bool is_unsigned = kind == Kind::UINT32 || kind == Kind::UINT64 || kind == Kind::FIXED32 || kind == Kind::FIXED64;
        const bool is_short = kind == Kind::INT32 || kind == Kind::SINT32 || kind == Kind::SFIXED32 || kind == Kind::UINT32 || kind == Kind::FIXED32 || kind == Kind::ENUM;
        char* stop = nullptr;
        errno = 0;
        const uint64 number = std::strtoull(word.c_str(), &stop, 0);
        if (*stop || errno == ERANGE) return false;
        const uint64 most = is_unsigned ? (is_short ? 0xffffffffull : ~0ull) : (is_short ? 0x7fffffffull : 0x7fffffffffffffffull) + negative;
        if (number > most || (is_unsigned && negative)) return false;
        const uint64 bits = negative ? 0ull - number : number;
        if (is_short) {
            const uint32 low = static_cast<uint32>(bits);
            std::memcpy(value, &low, sizeof low);
        } else {
            std::memcpy(value, &bits, sizeof bits);
        }
        return true;
    }

    Words* const words_;
    std::string name_;
    int depth_ = 0;
    bool taken_ = false, failed_ = false;
};

}  // namespace

void Message::Clear() {
    Clearing clearing;
    Visit(clearing);
    unknown_.clear();
}

bool Message::AppendToString(std::string* output) const {
    WireWriter::Write(*this, output);
    return true;
}
bool Message::SerializeToString(std::string* output) const {
    output->clear();
    return AppendToString(output);
}
std::string Message::SerializeAsString() const {
    std::string bytes;
    AppendToString(&bytes);
    return bytes;
}
bool Message::SerializeToArray(void* data, int size) const {
    const std::string bytes = SerializeAsString();
    if (bytes.size() > static_cast<size_t>(size)) return false;
    std::memcpy(data, bytes.data(), bytes.size());
    return true;
}
bool Message::SerializeToOstream(std::ostream* output) const {
    const std::string bytes = SerializeAsString();
    output->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return output->good();
}
bool Message::ParseFromArray(const void* data, int size) {
    Clear();
    return WireReader::Read(static_cast<const char*>(data), static_cast<size_t>(size), this);
}
bool Message::ParseFromString(const std::string& data) {
    Clear();
    return MergeFromString(data);
}
bool Message::ParseFromIstream(std::istream* input) {
    const std::string data((std::istreambuf_iterator<char>(*input)), std::istreambuf_iterator<char>());
    return ParseFromString(data);
}
bool Message::MergeFromString(const std::string& data) { return WireReader::Read(data.data(), data.size(), this); }

std::string Message::DebugString() const {
    std::string text;
    Printer printer(false, &text);
    const_cast<Message*>(this)->Visit(printer);
    return text;
}
std::string Message::ShortDebugString() const {
    std::string text;
    Printer printer(true, &text);
    const_cast<Message*>(this)->Visit(printer);
    return text;
}

bool TextFormat::ParseFromString(const std::string& text, Message* message) {
    message->Clear();
    return MergeFromString(text, message);
}
bool TextFormat::MergeFromString(const std::string& text, Message* message) {
    Words words(text);
    return TextReader::Read(&words, "", message);
}
bool TextFormat::PrintToString(const Message& message, std::string* text) {
    *text = message.DebugString();
    return true;
}

std::string NameOfEnum(const EnumName* names, int number) {
    for (; names && names->name; ++names) {
        if (names->number == number) return names->name;
    }
    return "";
}

bool ParseEnum(const EnumName* names, const std::string& name, int* number) {
    for (; names && names->name; ++names) {
        if (name == names->name) return *number = names->number, true;
    }
    return false;
}

}  // namespace everflow
}  // namespace protobuf
}  // namespace google
