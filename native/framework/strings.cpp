// Texts: numbers in them, arguments of programs.
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tensorflow/core/lib/strings/numbers.h"
#include "tensorflow/core/lib/strings/str_util.h"
#include "tensorflow/core/lib/strings/stringprintf.h"
#include "tensorflow/core/util/command_line_flags.h"

namespace tensorflow {
namespace strings {

void Appendv(std::string* to, const char* format, std::va_list arguments) {
    std::va_list again;
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (size < 0) return;
    std::string text(static_cast<size_t>(size) + 1, '\0');
    std::vsnprintf(&text[0], text.size(), format, arguments);
    to->append(text, 0, static_cast<size_t>(size));
}

std::string Printf(const char* format, ...) {
    std::string text;
    std::va_list arguments;
    va_start(arguments, format);
    Appendv(&text, format, arguments);
    va_end(arguments);
    return text;
}

void Appendf(std::string* to, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    Appendv(to, format, arguments);
    va_end(arguments);
}

namespace {

// The whole text but for whitespace around it, by one of C's functions.
template <typename Number, typename Function>
bool read(StringPiece text, Number* value, const Function& function) {
    str_util::RemoveWhitespaceContext(&text);
    const std::string whole(text);
    if (whole.empty()) return false;
    char* stop = nullptr;
    errno = 0;
    *value = function(whole.c_str(), &stop);
    return stop == whole.c_str() + whole.size();
}

template <typename Narrow, typename Wide>
bool fits(Wide wide, Narrow* value) {
    *value = static_cast<Narrow>(wide);
    return errno != ERANGE && static_cast<Wide>(*value) == wide;
}

}  // namespace

bool safe_strto64(StringPiece text, int64* value) {
    return read(text, value, [](const char* from, char** stop) { return std::strtoll(from, stop, 10); }) && errno != ERANGE;
}
bool safe_strtou64(StringPiece text, uint64* value) {
    if (text.find('-') != StringPiece::npos) return false;
    return read(text, value, [](const char* from, char** stop) { return std::strtoull(from, stop, 10); }) && errno != ERANGE;
}
bool safe_strto32(StringPiece text, int32* value) {
    int64 wide = 0;
    return safe_strto64(text, &wide) && fits(wide, value);
}
bool safe_strtou32(StringPiece text, uint32* value) {
    uint64 wide = 0;
    return safe_strtou64(text, &wide) && fits(wide, value);
}
bool safe_strtof(StringPiece text, float* value) {
    return read(text, value, [](const char* from, char** stop) { return std::strtof(from, stop); });
}
bool safe_strtod(StringPiece text, double* value) {
    return read(text, value, [](const char* from, char** stop) { return std::strtod(from, stop); });
}

}  // namespace strings

namespace str_util {

bool StrContains(StringPiece text, StringPiece part) { return std::string(text).find(std::string(part)) != std::string::npos; }

std::string Lowercase(StringPiece text) {
    std::string found(text);
    for (char& c : found) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return found;
}

std::string Uppercase(StringPiece text) {
    std::string found(text);
    for (char& c : found) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return found;
}

std::string StringReplace(StringPiece text, StringPiece old_part, StringPiece new_part, bool replace_all) {
    std::string found(text);
    const std::string from(old_part), to(new_part);
    for (size_t at = from.empty() ? std::string::npos : found.find(from); at != std::string::npos;) {
        found.replace(at, from.size(), to);
        at = replace_all ? found.find(from, at + to.size()) : std::string::npos;
    }
    return found;
}

size_t RemoveWhitespaceContext(StringPiece* text) {
    const size_t before = text->size();
    while (!text->empty() && std::isspace(static_cast<unsigned char>((*text)[0]))) text->remove_prefix(1);
    while (!text->empty() && std::isspace(static_cast<unsigned char>((*text)[text->size() - 1]))) text->remove_suffix(1);
    return before - text->size();
}

void StripTrailingWhitespace(std::string* text) {
    while (!text->empty() && std::isspace(static_cast<unsigned char>(text->back()))) text->pop_back();
}

}  // namespace str_util

namespace {

bool read_value(const std::string& text, int32* value) { return strings::safe_strto32(text, value); }
bool read_value(const std::string& text, int64* value) { return strings::safe_strto64(text, value); }
bool read_value(const std::string& text, float* value) { return strings::safe_strtof(text, value); }
bool read_value(const std::string& text, std::string* value) { return *value = text, true; }
bool read_value(const std::string& text, bool* value) {
    *value = text.empty() || text == "true" || text == "1";
    return *value || text == "false" || text == "0";
}

template <typename T>
std::function<bool(const std::string&)> taking(std::function<bool(T)> hook) {
    return [hook](const std::string& text) {
        T value = T();
        return read_value(text, &value) && hook(value);
    };
}

template <typename T>
std::function<bool(T)> setting(T* target) {
    return [target](T value) { return *target = value, true; };
}

std::string shown(bool value) { return value ? "true" : "false"; }
std::string shown(const std::string& value) { return "\"" + value + "\""; }
template <typename T>
std::string shown(T value) {
    return strings::StrCat(value);
}

}  // namespace

#define EVERFLOW_FLAG(TYPE, KIND)                                                                                        \
    Flag::Flag(const char* name, TYPE* target, const std::string& usage)                                                 \
        : name_(name), usage_(usage), kind_(KIND), default_(shown(*target)), take_(taking<TYPE>(setting(target))) {}     \
    Flag::Flag(const char* name, std::function<bool(TYPE)> hook, TYPE default_value, const std::string& usage)           \
        : name_(name), usage_(usage), kind_(KIND), default_(shown(default_value)), take_(taking<TYPE>(std::move(hook))) {}
EVERFLOW_FLAG(int32, "int32")
EVERFLOW_FLAG(int64, "int64")
EVERFLOW_FLAG(bool, "bool")
EVERFLOW_FLAG(std::string, "string")
EVERFLOW_FLAG(float, "float")
#undef EVERFLOW_FLAG

bool Flag::Parse(const std::string& argument, bool* fits) const {
    const std::string begin = "--" + name_;
    if (argument.compare(0, begin.size(), begin) != 0) return false;
    const std::string rest = argument.substr(begin.size());
    if (rest.empty() && kind_ != "bool") return false;
    if (!rest.empty() && rest[0] != '=') return false;
    *fits = (rest != "=" || kind_ == "string") && take_(rest.empty() ? rest : rest.substr(1));
    return true;
}

bool Flags::Parse(int* argc, char** argv, const std::vector<Flag>& flags) {
    bool all_fit = true;
    std::vector<char*> others;
    for (int i = 1; i < *argc; ++i) {
        if (std::string(argv[i]) == "--") {
            others.insert(others.end(), argv + i, argv + *argc);
            break;
        }
        bool known = false;
        for (size_t f = 0; f < flags.size() && !known; ++f) {
            bool fits = true;
            known = flags[f].Parse(argv[i], &fits);
            if (!fits) std::fprintf(stderr, "Couldn't interpret value of flag %s: %s\n", flags[f].name().c_str(), argv[i]);
            all_fit = all_fit && fits;
        }
        if (!known) others.push_back(argv[i]);
    }
    for (size_t i = 0; i < others.size(); ++i) argv[i + 1] = others[i];
    *argc = static_cast<int>(others.size()) + 1;
    argv[*argc] = nullptr;
    return all_fit && (others.empty() || std::string(others[0]) != "--help");
}

std::string Flags::Usage(const std::string& command, const std::vector<Flag>& flags) {
    std::string text = "usage: " + command + "\n";
    if (!flags.empty()) text += "Flags:\n";
    for (const Flag& flag : flags) {
        strings::Appendf(&text, "\t%-33s\t%s\t%s\n", ("--" + flag.name() + "=" + flag.default_text()).c_str(), flag.kind().c_str(), flag.usage().c_str());
    }
    return text;
}

}  // namespace tensorflow
