// What is done with texts: splitting, joining, trimming.
#ifndef TENSORFLOW_CORE_LIB_STRINGS_STR_UTIL_H_
#define TENSORFLOW_CORE_LIB_STRINGS_STR_UTIL_H_

#include <string>
#include <vector>

#include "tensorflow/core/lib/core/stringpiece.h"
#include "tensorflow/core/lib/strings/strcat.h"

namespace tensorflow {
namespace str_util {

struct AllowEmpty {
    bool operator()(StringPiece) const { return true; }
};
struct SkipEmpty {
    bool operator()(StringPiece part) const { return !part.empty(); }
};

// The parts between any of the delimiters; a text without any is one part, and an empty text none.
template <typename Predicate>
std::vector<std::string> Split(StringPiece text, StringPiece delimiters, Predicate wanted) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (size_t i = 0; !text.empty() && i <= text.size(); ++i) {
        if (i < text.size() && delimiters.find(text[i]) == StringPiece::npos) continue;
        const StringPiece part = text.substr(start, i - start);
        if (wanted(part)) parts.push_back(std::string(part));
        start = i + 1;
    }
    return parts;
}
inline std::vector<std::string> Split(StringPiece text, StringPiece delimiters) { return Split(text, delimiters, AllowEmpty()); }
template <typename Predicate>
std::vector<std::string> Split(StringPiece text, char delimiter, Predicate wanted) {
    return Split(text, StringPiece(&delimiter, 1), wanted);
}
inline std::vector<std::string> Split(StringPiece text, char delimiter) { return Split(text, delimiter, AllowEmpty()); }

template <typename T>
std::string Join(const T& parts, const char* between) {
    std::string all;
    bool first = true;
    for (const auto& part : parts) {
        if (!first) all += between;
        all += strings::StrCat(part), first = false;
    }
    return all;
}

inline bool StartsWith(StringPiece text, StringPiece prefix) { return text.substr(0, prefix.size()) == prefix && text.size() >= prefix.size(); }
inline bool EndsWith(StringPiece text, StringPiece suffix) { return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix; }
inline bool ConsumePrefix(StringPiece* text, StringPiece prefix) {
    if (!StartsWith(*text, prefix)) return false;
    text->remove_prefix(prefix.size());
    return true;
}
inline bool ConsumeSuffix(StringPiece* text, StringPiece suffix) {
    if (!EndsWith(*text, suffix)) return false;
    text->remove_suffix(suffix.size());
    return true;
}
bool StrContains(StringPiece text, StringPiece part);
std::string Lowercase(StringPiece text);
std::string Uppercase(StringPiece text);
std::string StringReplace(StringPiece text, StringPiece old_part, StringPiece new_part, bool replace_all);
// Takes whitespace off both ends, and says how much it was.
size_t RemoveWhitespaceContext(StringPiece* text);
void StripTrailingWhitespace(std::string* text);

}  // namespace str_util
}  // namespace tensorflow

#endif
