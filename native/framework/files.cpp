// Files: those of this machine, those that libraries bring file systems for, and how Python reaches the latter.
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "crossing.h"
#include "tensorflow/core/lib/core/threadpool.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {
namespace {

Status system_error(const std::string& name) {
    const std::string words = name + "; " + std::strerror(errno);
    switch (errno) {
        case 0: return Status::OK();
        case ENOENT: return errors::NotFound(words);
        case EEXIST: return errors::AlreadyExists(words);
        case EACCES:
        case EPERM:
        case EROFS: return errors::PermissionDenied(words);
        case EISDIR:
        case ENOTDIR:
        case ENOTEMPTY:
        case EBUSY: return errors::FailedPrecondition(words);
        case EINVAL:
        case ENAMETOOLONG: return errors::InvalidArgument(words);
        case ENOSPC:
        case EMFILE: return errors::ResourceExhausted(words);
        default: return errors::Unknown(words);
    }
}

Status done(int result, const std::string& name) { return result == 0 ? Status::OK() : system_error(name); }

class LocalReader : public RandomAccessFile {
public:
    LocalReader(const std::string& name, int file) : name_(name), file_(file) {}
    ~LocalReader() override { close(file_); }
    Status Name(StringPiece* result) const override {
        *result = name_;
        return Status::OK();
    }
    Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const override {
        size_t got = 0;
        while (got < n) {
            const ssize_t part = pread(file_, scratch + got, n - got, static_cast<off_t>(offset + got));
            if (part < 0 && errno == EINTR) continue;
            if (part < 0) return system_error(name_);
            if (part == 0) break;
            got += static_cast<size_t>(part);
        }
        *result = StringPiece(scratch, got);
        return got == n ? Status::OK() : errors::OutOfRange("Read less bytes than requested");
    }

private:
    const std::string name_;
    const int file_;
};

class LocalWriter : public WritableFile {
public:
    LocalWriter(const std::string& name, std::FILE* file) : name_(name), file_(file) {}
    ~LocalWriter() override {
        if (file_) std::fclose(file_);
    }
    Status Append(StringPiece data) override { return done(std::fwrite(data.data(), 1, data.size(), file_) == data.size() ? 0 : -1, name_); }
    Status Close() override {
        std::FILE* file = file_;
        file_ = nullptr;
        return file ? done(std::fclose(file), name_) : errors::FailedPrecondition(name_, " is closed");
    }
    Status Flush() override { return done(std::fflush(file_), name_); }
    Status Sync() override {
        TF_RETURN_IF_ERROR(Flush());
        return done(fsync(fileno(file_)), name_);
    }
    Status Name(StringPiece* result) const override {
        *result = name_;
        return Status::OK();
    }
    Status Tell(int64* position) override {
        *position = std::ftell(file_);
        return *position < 0 ? system_error(name_) : Status::OK();
    }

private:
    const std::string name_;
    std::FILE* file_;
};

class LocalMemory : public ReadOnlyMemoryRegion {
public:
    LocalMemory(void* data, size_t size) : data_(data), size_(size) {}
    ~LocalMemory() override { munmap(data_, size_); }
    const void* data() override { return data_; }
    uint64 length() override { return size_; }

private:
    void* data_;
    size_t size_;
};

class LocalFiles : public FileSystem {
public:
    Status NewRandomAccessFile(const std::string& name, std::unique_ptr<RandomAccessFile>* result) override {
        const int file = open(Local(name).c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) return system_error(name);
        result->reset(new LocalReader(name, file));
        return Status::OK();
    }
    Status NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result) override { return Writer(name, "we", result); }
    Status NewAppendableFile(const std::string& name, std::unique_ptr<WritableFile>* result) override { return Writer(name, "ae", result); }
    Status NewReadOnlyMemoryRegionFromFile(const std::string& name, std::unique_ptr<ReadOnlyMemoryRegion>* result) override {
        uint64 size = 0;
        TF_RETURN_IF_ERROR(GetFileSize(name, &size));
        const int file = open(Local(name).c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) return system_error(name);
        void* found = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        const Status status = found == MAP_FAILED ? system_error(name) : Status::OK();
        close(file);
        if (status.ok()) result->reset(new LocalMemory(found, size));
        return status;
    }
    Status FileExists(const std::string& name) override { return access(Local(name).c_str(), F_OK) ? errors::NotFound(name, " not found") : Status::OK(); }
    Status GetChildren(const std::string& folder, std::vector<std::string>* result) override {
        result->clear();
        DIR* all = opendir(Local(folder).c_str());
        if (!all) return system_error(folder);
        while (const dirent* entry = readdir(all)) {
            if (std::strcmp(entry->d_name, ".") && std::strcmp(entry->d_name, "..")) result->push_back(entry->d_name);
        }
        closedir(all);
        std::sort(result->begin(), result->end());
        return Status::OK();
    }
    Status Stat(const std::string& name, FileStatistics* found) override {
        struct stat known;
        if (stat(Local(name).c_str(), &known)) return system_error(name);
        *found = FileStatistics(known.st_size, static_cast<int64>(known.st_mtime) * 1000000000, S_ISDIR(known.st_mode));
        return Status::OK();
    }
    Status DeleteFile(const std::string& name) override { return done(unlink(Local(name).c_str()), name); }
    Status CreateDir(const std::string& name) override { return done(mkdir(Local(name).c_str(), 0755), name); }
    Status DeleteDir(const std::string& name) override { return done(rmdir(Local(name).c_str()), name); }
    Status GetFileSize(const std::string& name, uint64* size) override {
        FileStatistics found;
        TF_RETURN_IF_ERROR(Stat(name, &found));
        *size = static_cast<uint64>(found.length);
        return Status::OK();
    }
    Status RenameFile(const std::string& source, const std::string& target) override { return done(rename(Local(source).c_str(), Local(target).c_str()), source); }

private:
    static std::string Local(const std::string& name) {
        StringPiece scheme, host, path;
        io::ParseURI(name, &scheme, &host, &path);
        return std::string(path);
    }
    static Status Writer(const std::string& name, const char* mode, std::unique_ptr<WritableFile>* result) {
        std::FILE* file = std::fopen(Local(name).c_str(), mode);
        if (!file) return system_error(name);
        result->reset(new LocalWriter(name, file));
        return Status::OK();
    }
};

// File systems by their schemes, made when they are first asked for.
struct Schemes {
    struct Entry {
        FileSystemRegistry::Factory factory;
        std::unique_ptr<FileSystem> files;
    };
    mutex lock;
    std::map<std::string, Entry> entries;

    Schemes() {
        entries[""].files.reset(new LocalFiles);
        entries["file"].files.reset(new LocalFiles);
    }
};

Schemes& schemes() {
    static Schemes* const all = new Schemes;
    return *all;
}

class RunningThread : public Thread {
public:
    explicit RunningThread(std::function<void()> work) : thread_(std::move(work)) {}
    ~RunningThread() override { thread_.join(); }

private:
    std::thread thread_;
};

}  // namespace

namespace io {

std::string JoinPathImpl(std::initializer_list<StringPiece> parts) {
    std::string joined;
    for (StringPiece part : parts) {
        if (part.empty()) continue;
        const bool slash = part[0] == '/';
        if (joined.empty()) {
            joined = std::string(part);
        } else if (joined.back() == '/') {
            joined += std::string(slash ? part.substr(1) : part);
        } else {
            joined += (slash ? "" : "/") + std::string(part);
        }
    }
    return joined;
}

bool IsAbsolutePath(StringPiece path) { return !path.empty() && path[0] == '/'; }

namespace {
// Where the last slash of a path is, behind scheme and host; npos where there is none.
size_t last_slash(StringPiece path) {
    const std::string text(path);
    const size_t scheme = text.find("://"), start = scheme == std::string::npos ? 0 : scheme + 3, slash = text.rfind('/');
    return slash == std::string::npos || slash < start ? StringPiece::npos : slash;
}
}  // namespace

StringPiece Dirname(StringPiece path) {
    const size_t slash = last_slash(path);
    if (slash == StringPiece::npos) return path.substr(0, 0);
    return path.substr(0, slash ? slash : 1);
}

StringPiece Basename(StringPiece path) {
    const size_t slash = last_slash(path);
    return slash == StringPiece::npos ? path : path.substr(slash + 1);
}

StringPiece Extension(StringPiece path) {
    const StringPiece name = Basename(path);
    const size_t dot = std::string(name).rfind('.');
    return dot == std::string::npos ? name.substr(name.size()) : name.substr(dot + 1);
}

void ParseURI(StringPiece uri, StringPiece* scheme, StringPiece* host, StringPiece* path) {
    const std::string text(uri);
    const size_t end = text.find("://");
    *scheme = *host = uri.substr(0, 0);
    *path = uri;
    if (end == std::string::npos || end == 0) return;
    const size_t slash = text.find('/', end + 3);
    *scheme = uri.substr(0, end);
    *host = uri.substr(end + 3, slash == std::string::npos ? StringPiece::npos : slash - end - 3);
    *path = slash == std::string::npos ? uri.substr(uri.size()) : uri.substr(slash);
}

std::string CreateURI(StringPiece scheme, StringPiece host, StringPiece path) {
    return scheme.empty() ? std::string(path) : strings::StrCat(scheme, "://", host, path);
}

}  // namespace io

// -- what file systems need not say themselves

FileSystem::~FileSystem() {}

bool FileSystem::FilesExist(const std::vector<std::string>& files, std::vector<Status>* status) {
    bool all = true;
    for (const std::string& name : files) {
        const Status found = FileExists(name);
        all = all && found.ok();
        if (status) status->push_back(found);
    }
    return all;
}

Status FileSystem::IsDirectory(const std::string& name) {
    FileStatistics found;
    TF_RETURN_IF_ERROR(Stat(name, &found));
    return found.is_directory ? Status::OK() : errors::FailedPrecondition(name, " is not a directory");
}

std::string FileSystem::TranslateName(const std::string& name) const { return name; }

Status FileSystem::RecursivelyCreateDir(const std::string& name) {
    if (name.empty() || FileExists(name).ok()) return Status::OK();
    const std::string above(io::Dirname(name));
    if (!above.empty() && above != name) TF_RETURN_IF_ERROR(RecursivelyCreateDir(above));
    const Status status = CreateDir(name);
    return errors::IsAlreadyExists(status) ? Status::OK() : status;
}

Status FileSystem::DeleteRecursively(const std::string& name, int64* undeleted_files, int64* undeleted_dirs) {
    *undeleted_files = *undeleted_dirs = 0;
    const Status there = FileExists(name);
    if (!there.ok()) {
        *undeleted_dirs = 1;
        return there;
    }
    if (!IsDirectory(name).ok()) {
        const Status status = DeleteFile(name);
        *undeleted_files = !status.ok();
        return status;
    }
    std::vector<std::string> names;
    Status status = GetChildren(name, &names);
    for (const std::string& child : names) {
        int64 files = 0, folders = 0;
        status.Update(DeleteRecursively(io::JoinPath(name, child), &files, &folders));
        *undeleted_files += files, *undeleted_dirs += folders;
    }
    const Status removed = DeleteDir(name);
    *undeleted_dirs += !removed.ok();
    status.Update(removed);
    return status;
}

Status FileSystem::CopyFile(const std::string& source, const std::string& target) {
    std::unique_ptr<RandomAccessFile> from;
    std::unique_ptr<WritableFile> to;
    TF_RETURN_IF_ERROR(NewRandomAccessFile(source, &from));
    TF_RETURN_IF_ERROR(NewWritableFile(target, &to));
    std::vector<char> scratch(1 << 17);
    for (uint64 at = 0;;) {
        StringPiece part;
        const Status status = from->Read(at, scratch.size(), &part, scratch.data());
        if (!status.ok() && !errors::IsOutOfRange(status)) return status;
        TF_RETURN_IF_ERROR(to->Append(part));
        at += part.size();
        if (!status.ok()) return to->Close();
    }
}

// Looks into each folder whose name the pattern's part for it matches.
Status FileSystem::GetMatchingPaths(const std::string& pattern, std::vector<std::string>* results) {
    results->clear();
    const size_t wild = pattern.find_first_of("*?[\\");
    if (wild == std::string::npos) {
        if (FileExists(pattern).ok()) results->push_back(pattern);
        return Status::OK();
    }
    std::vector<std::string> found(1, std::string(io::Dirname(pattern.substr(0, wild))));
    std::string rest = pattern.substr(found[0].size());
    while (!rest.empty()) {
        const size_t start = rest.find_first_not_of('/');
        if (start == std::string::npos) break;
        const size_t stop = rest.find('/', start);
        const std::string part = rest.substr(start, stop == std::string::npos ? stop : stop - start);
        rest = stop == std::string::npos ? "" : rest.substr(stop);
        std::vector<std::string> next;
        for (const std::string& folder : found) {
            std::vector<std::string> names;
            if (!GetChildren(folder.empty() ? "." : folder, &names).ok()) continue;
            for (const std::string& name : names) {
                if (!fnmatch(part.c_str(), name.c_str(), FNM_PATHNAME)) next.push_back(io::JoinPath(folder, name));
            }
        }
        found = std::move(next);
    }
    std::sort(found.begin(), found.end());
    *results = std::move(found);
    return Status::OK();
}

// -- the environment

Env* Env::Default() {
    static Env* const all = new Env;
    return all;
}

Status Env::RegisterFileSystem(const std::string& scheme, FileSystemRegistry::Factory factory) {
    mutex_lock lock(schemes().lock);
    Schemes::Entry& entry = schemes().entries[scheme];
    if (entry.factory || entry.files) return errors::AlreadyExists("File factory for ", scheme, " already registered");
    entry.factory = std::move(factory);
    return Status::OK();
}

Status Env::GetFileSystemForFile(const std::string& name, FileSystem** result) {
    StringPiece scheme, host, path;
    io::ParseURI(name, &scheme, &host, &path);
    mutex_lock lock(schemes().lock);
    const auto found = schemes().entries.find(std::string(scheme));
    if (found == schemes().entries.end()) return errors::Unimplemented("File system scheme '", scheme, "' not implemented (file: '", name, "')");
    if (!found->second.files) found->second.files.reset(found->second.factory());
    *result = found->second.files.get();
    return Status::OK();
}

Status Env::GetRegisteredFileSystemSchemes(std::vector<std::string>* all) {
    mutex_lock lock(schemes().lock);
    all->clear();
    for (const auto& entry : schemes().entries) all->push_back(entry.first);
    return Status::OK();
}

#define OF_FILES(name)                                       \
    FileSystem* files = nullptr;                             \
    TF_RETURN_IF_ERROR(GetFileSystemForFile(name, &files))

Status Env::NewRandomAccessFile(const std::string& name, std::unique_ptr<RandomAccessFile>* result) {
    OF_FILES(name);
    return files->NewRandomAccessFile(name, result);
}
Status Env::NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result) {
    OF_FILES(name);
    return files->NewWritableFile(name, result);
}
Status Env::NewAppendableFile(const std::string& name, std::unique_ptr<WritableFile>* result) {
    OF_FILES(name);
    return files->NewAppendableFile(name, result);
}
Status Env::NewReadOnlyMemoryRegionFromFile(const std::string& name, std::unique_ptr<ReadOnlyMemoryRegion>* result) {
    OF_FILES(name);
    return files->NewReadOnlyMemoryRegionFromFile(name, result);
}
Status Env::FileExists(const std::string& name) {
    OF_FILES(name);
    return files->FileExists(name);
}
bool Env::FilesExist(const std::vector<std::string>& names, std::vector<Status>* status) {
    bool all = true;
    for (const std::string& name : names) {
        const Status found = FileExists(name);
        all = all && found.ok();
        if (status) status->push_back(found);
    }
    return all;
}
Status Env::GetChildren(const std::string& folder, std::vector<std::string>* result) {
    OF_FILES(folder);
    return files->GetChildren(folder, result);
}
Status Env::GetMatchingPaths(const std::string& pattern, std::vector<std::string>* results) {
    OF_FILES(pattern);
    return files->GetMatchingPaths(pattern, results);
}
Status Env::Stat(const std::string& name, FileStatistics* found) {
    OF_FILES(name);
    return files->Stat(name, found);
}
Status Env::DeleteFile(const std::string& name) {
    OF_FILES(name);
    return files->DeleteFile(name);
}
Status Env::CreateDir(const std::string& name) {
    OF_FILES(name);
    return files->CreateDir(name);
}
Status Env::RecursivelyCreateDir(const std::string& name) {
    OF_FILES(name);
    return files->RecursivelyCreateDir(name);
}
Status Env::DeleteDir(const std::string& name) {
    OF_FILES(name);
    return files->DeleteDir(name);
}
Status Env::DeleteRecursively(const std::string& name, int64* undeleted_files, int64* undeleted_dirs) {
    OF_FILES(name);
    return files->DeleteRecursively(name, undeleted_files, undeleted_dirs);
}
Status Env::GetFileSize(const std::string& name, uint64* size) {
    OF_FILES(name);
    return files->GetFileSize(name, size);
}
Status Env::RenameFile(const std::string& source, const std::string& target) {
    OF_FILES(source);
    FileSystem* others = nullptr;
    TF_RETURN_IF_ERROR(GetFileSystemForFile(target, &others));
    if (files != others) return errors::Unimplemented("Renaming ", source, " to ", target, " not implemented");
    return files->RenameFile(source, target);
}
Status Env::CopyFile(const std::string& source, const std::string& target) {
    OF_FILES(source);
    FileSystem* others = nullptr;
    TF_RETURN_IF_ERROR(GetFileSystemForFile(target, &others));
    if (files == others) return files->CopyFile(source, target);
    std::string data;
    TF_RETURN_IF_ERROR(ReadFileToString(this, source, &data));
    return WriteStringToFile(this, target, data);
}
Status Env::IsDirectory(const std::string& name) {
    OF_FILES(name);
    return files->IsDirectory(name);
}

uint64 Env::NowNanos() const {
    return static_cast<uint64>(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}
void Env::SleepForMicroseconds(int64 micros) { std::this_thread::sleep_for(std::chrono::microseconds(micros)); }
Thread* Env::StartThread(const ThreadOptions&, const std::string&, std::function<void()> work) { return new RunningThread(std::move(work)); }
void Env::SchedClosure(std::function<void()> work) { std::thread(std::move(work)).detach(); }

Status ReadFileToString(Env* env, const std::string& name, std::string* data) {
    uint64 size = 0;
    TF_RETURN_IF_ERROR(env->GetFileSize(name, &size));
    std::unique_ptr<RandomAccessFile> file;
    TF_RETURN_IF_ERROR(env->NewRandomAccessFile(name, &file));
    std::vector<char> scratch(size + 1);
    StringPiece found;
    const Status status = file->Read(0, size, &found, scratch.data());
    if (!status.ok() && !errors::IsOutOfRange(status)) return status;
    data->assign(found.data(), found.size());
    return Status::OK();
}

Status WriteStringToFile(Env* env, const std::string& name, StringPiece data) {
    std::unique_ptr<WritableFile> file;
    TF_RETURN_IF_ERROR(env->NewWritableFile(name, &file));
    TF_RETURN_IF_ERROR(file->Append(data));
    return file->Close();
}

}  // namespace tensorflow

using namespace tensorflow;

// -- for Python. Each returns the code of a status, whose words are in `message`.

EXPORTED void everflow_files_schemes(void (*take)(const char* scheme)) {
    std::vector<std::string> all;
    Env::Default()->GetRegisteredFileSystemSchemes(&all).IgnoreError();
    for (const std::string& scheme : all) take(scheme.c_str());
}

// What is done with a path: `kind` is one of the names below.
EXPORTED int32_t everflow_files_do(const char* kind, const char* path, const char* other, char* message, int64_t size) {
    Env* env = Env::Default();
    const std::string what(kind);
    const Status status = guarded([&]() -> Status {
        if (what == "exists") return env->FileExists(path);
        if (what == "is_directory") return env->IsDirectory(path);
        if (what == "make_directory") return env->CreateDir(path);
        if (what == "make_directories") return env->RecursivelyCreateDir(path);
        if (what == "remove") return env->DeleteFile(path);
        if (what == "rename") return env->RenameFile(path, other);
        if (what == "copy") return env->CopyFile(path, other);
        int64 files = 0, folders = 0;
        return env->DeleteRecursively(path, &files, &folders);
    });
    return said(status, message, size);
}

EXPORTED int32_t everflow_files_list(const char* path, void (*take)(const char* name), char* message, int64_t size) {
    const Status status = guarded([&]() -> Status {
        std::vector<std::string> names;
        TF_RETURN_IF_ERROR(Env::Default()->GetChildren(path, &names));
        for (const std::string& name : names) take(name.c_str());
        return Status::OK();
    });
    return said(status, message, size);
}

// Length, time of the last change and whether it is a folder.
EXPORTED int32_t everflow_files_stat(const char* path, int64_t* found, char* message, int64_t size) {
    const Status status = guarded([&]() -> Status {
        FileStatistics known;
        TF_RETURN_IF_ERROR(Env::Default()->Stat(path, &known));
        found[0] = known.length, found[1] = known.mtime_nsec, found[2] = known.is_directory;
        return Status::OK();
    });
    return said(status, message, size);
}

EXPORTED int32_t everflow_reader_open(const char* path, void** reader, char* message, int64_t size) {
    std::unique_ptr<RandomAccessFile> file;
    const Status status = guarded([&] { return Env::Default()->NewRandomAccessFile(path, &file); });
    *reader = file.release();
    return said(status, message, size);
}

EXPORTED int32_t everflow_reader_read(void* reader, int64_t offset, char* to, int64_t* count, char* message, int64_t size) {
    const Status status = guarded([&]() -> Status {
        StringPiece found;
        const Status read = static_cast<RandomAccessFile*>(reader)->Read(static_cast<uint64>(offset), static_cast<size_t>(*count), &found, to);
        if (!read.ok() && !errors::IsOutOfRange(read)) return read;
        // A file in memory may hand out its own bytes.
        if (found.data() != to) std::memmove(to, found.data(), found.size());
        *count = static_cast<int64_t>(found.size());
        return Status::OK();
    });
    return said(status, message, size);
}

EXPORTED void everflow_reader_free(void* reader) { delete static_cast<RandomAccessFile*>(reader); }

EXPORTED int32_t everflow_writer_open(const char* path, bool append, void** writer, char* message, int64_t size) {
    std::unique_ptr<WritableFile> file;
    const Status status =
        guarded([&] { return append ? Env::Default()->NewAppendableFile(path, &file) : Env::Default()->NewWritableFile(path, &file); });
    *writer = file.release();
    return said(status, message, size);
}

EXPORTED int32_t everflow_writer_append(void* writer, const char* data, int64_t count, char* message, int64_t size) {
    return said(guarded([&] { return static_cast<WritableFile*>(writer)->Append(StringPiece(data, static_cast<size_t>(count))); }), message, size);
}

EXPORTED int32_t everflow_writer_flush(void* writer, char* message, int64_t size) {
    return said(guarded([&] { return static_cast<WritableFile*>(writer)->Flush(); }), message, size);
}

EXPORTED int32_t everflow_writer_close(void* writer, char* message, int64_t size) {
    return said(guarded([&] { return static_cast<WritableFile*>(writer)->Close(); }), message, size);
}

EXPORTED void everflow_writer_free(void* writer) { delete static_cast<WritableFile*>(writer); }
