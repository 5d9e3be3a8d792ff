// Arguments of programs: Flag("steps", &steps, "how many steps").
#ifndef TENSORFLOW_CORE_UTIL_COMMAND_LINE_FLAGS_H_
#define TENSORFLOW_CORE_UTIL_COMMAND_LINE_FLAGS_H_

#include <functional>
#include <string>
#include <vector>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

// `--name=value`, or `--name` alone for what is true or false. The value goes where `target` points to, which holds the default, or to a
// function, which says whether it is one.
class Flag {
public:
    Flag(const char* name, int32* target, const std::string& usage);
    Flag(const char* name, int64* target, const std::string& usage);
    Flag(const char* name, bool* target, const std::string& usage);
    Flag(const char* name, std::string* target, const std::string& usage);
    Flag(const char* name, float* target, const std::string& usage);
    Flag(const char* name, std::function<bool(int32)> hook, int32 default_value, const std::string& usage);
    Flag(const char* name, std::function<bool(int64)> hook, int64 default_value, const std::string& usage);
    Flag(const char* name, std::function<bool(bool)> hook, bool default_value, const std::string& usage);
    Flag(const char* name, std::function<bool(std::string)> hook, std::string default_value, const std::string& usage);
    Flag(const char* name, std::function<bool(float)> hook, float default_value, const std::string& usage);

    // Whether an argument is this one; `fits` is whether its value could be read.
    bool Parse(const std::string& argument, bool* fits) const;
    const std::string& name() const { return name_; }
    const std::string& usage() const { return usage_; }
    // The kind of value and the default, as help shows them: "int32", "10".
    const std::string& kind() const { return kind_; }
    const std::string& default_text() const { return default_; }

private:
    std::string name_, usage_, kind_, default_;
    std::function<bool(const std::string&)> take_;
};

class Flags {
public:
    // Takes what it knows out of the arguments; false where a value is none.
    static bool Parse(int* argc, char** argv, const std::vector<Flag>& flags);
    // What may be written, for people.
    static std::string Usage(const std::string& command, const std::vector<Flag>& flags);
};

}  // namespace tensorflow

#endif
