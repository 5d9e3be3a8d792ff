// The interpreter: that of the process, or one of our own, of the environment that Everflow is installed in.
//
// Nothing here is linked with Python: its functions are looked up by name, so that one library serves processes that are Python and those
// that are not.
#include "host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace everflow {
namespace {

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "libtensorflow (Everflow): %s\n", why.c_str());
    std::abort();
}

// Python's functions that are needed, by their names.
template <typename Function>
Function* python(const char* name) {
    void* at = dlsym(RTLD_DEFAULT, name);
    if (!at) give_up(std::string("Python has no ") + name + ".");
    return reinterpret_cast<Function*>(at);
}

// The file that this code is in, and the folder of the package that it belongs to.
std::string own_path() {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(&own_path), &info)) give_up("the library does not know where it is.");
    char* real = realpath(info.dli_fname, nullptr);
    const std::string path = real ? real : info.dli_fname;
    std::free(real);
    return path;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// Where an interpreter may be: where the user says, in the environment whose site-packages hold the package, beside a source tree, on the path.
std::vector<std::string> candidates() {
    const std::string package = folder_of(own_path());
    std::vector<std::string> all;
    if (!environment("EVERFLOW_PYTHON").empty()) return {environment("EVERFLOW_PYTHON")};
    const std::string prefix = folder_of(folder_of(folder_of(folder_of(package))));
    all.push_back(prefix + "/bin/python3");
    all.push_back(folder_of(package) + "/.venv/bin/python");
    if (!environment("VIRTUAL_ENV").empty()) all.push_back(environment("VIRTUAL_ENV") + "/bin/python");
    std::string path = environment("PATH");
    for (size_t start = 0; start <= path.size();) {
        const size_t stop = std::min(path.find(':', start), path.size());
        if (stop > start) all.push_back(path.substr(start, stop - start) + "/python3");
        start = stop + 1;
    }
    return all;
}

// The shared library of an interpreter that has what Everflow needs; empty where it has not.
std::string library_of(const std::string& executable) {
    if (access(executable.c_str(), X_OK)) return "";
    const char* const program =
        "import importlib.util as u, os, sysconfig as s; v = s.get_config_var; "
        "names = [os.path.join(v(d) or '', n) for d in ('LIBDIR', 'LIBPL') for n in (v('INSTSONAME') or '', v('LDLIBRARY') or '') if '.so' in n or '.dylib' in n]; "
        "print(next((n for n in names if os.path.exists(n)), '-') if all(u.find_spec(n) for n in ('torch', 'numpy', 'google.protobuf')) else '')";
    std::string quoted = "'";
    for (const char c : executable) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    std::FILE* answer = popen((quoted + "' -c \"" + program + "\" 2>/dev/null").c_str(), "r");
    std::string line;
    for (int c = answer ? std::fgetc(answer) : EOF; c != EOF && c != '\n'; c = std::fgetc(answer)) line += static_cast<char>(c);
    if (answer) pclose(answer);
    return line;
}

void start_interpreter() {
    std::string without;
    for (const std::string& executable : candidates()) {
        const std::string library = library_of(executable);
        if (library == "-") without = executable;
        if (library.empty() || library == "-") continue;
        if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) give_up(dlerror());
        python<void(const wchar_t*)>("Py_SetProgramName")(python<wchar_t*(const char*, size_t*)>("Py_DecodeLocale")(executable.c_str(), nullptr));
        python<void(int)>("Py_InitializeEx")(0);
        python<void*()>("PyEval_SaveThread")();
        return;
    }
    if (!without.empty()) give_up("the Python of " + without + " has no shared library; one that was built with --enable-shared is needed.");
    give_up("no Python with what Everflow needs was found; EVERFLOW_PYTHON may name one.");
}

}  // namespace

void* found(const char* name) {
    static std::once_flag once;
    std::call_once(once, [] {
        const auto is_there = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
        if (!is_there || !is_there()) start_interpreter();
    });
    const int state = python<int()>("PyGILState_Ensure")();
    const std::string path = own_path();
    void* folders = python<void*(const char*)>("PySys_GetObject")("path");
    void* folder = python<void*(const char*)>("PyUnicode_FromString")(folder_of(folder_of(path)).c_str());
    if (python<int(void*, void*)>("PySequence_Contains")(folders, folder) == 0) python<int(void*, ptrdiff_t, void*)>("PyList_Insert")(folders, 0, folder);
    void* module = python<void*(const char*)>("PyImport_ImportModule")("everflow.c_api.boundary");
    void* address = nullptr;
    if (module) {
        void* number = python<void*(void*, const char*, const char*, ...)>("PyObject_CallMethod")(module, "address", "ss", name, path.c_str());
        if (number) address = python<void*(void*)>("PyLong_AsVoidPtr")(number);
    }
    if (!address) {
        // What is wrong is said as Python says it.
        if (python<void*()>("PyErr_Occurred")()) python<void()>("PyErr_Print")();
        give_up(std::string(name) + " could not be found in Python.");
    }
    python<void(int)>("PyGILState_Release")(state);
    return address;
}

}  // namespace everflow
