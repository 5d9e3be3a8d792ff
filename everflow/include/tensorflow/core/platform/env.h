// What the operating system offers: files of all schemes, time, threads.
#ifndef TENSORFLOW_CORE_PLATFORM_ENV_H_
#define TENSORFLOW_CORE_PLATFORM_ENV_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/platform/file_system.h"
#include "tensorflow/core/platform/protobuf.h"

namespace tensorflow {

// Runs until its work is done; whoever deletes it waits for that.
class Thread {
public:
    Thread() {}
    virtual ~Thread() {}

private:
    TF_DISALLOW_COPY_AND_ASSIGN(Thread);
};

struct ThreadOptions {
    size_t stack_size = 0;
    size_t guard_size = 0;
    int numa_node = -1;
};

class Env {
public:
    Env() {}
    virtual ~Env() {}
    static Env* Default();

    // A class of file systems for a scheme; the first one that is registered for it stays.
    virtual Status RegisterFileSystem(const std::string& scheme, FileSystemRegistry::Factory factory);
    virtual Status GetFileSystemForFile(const std::string& name, FileSystem** result);
    virtual Status GetRegisteredFileSystemSchemes(std::vector<std::string>* schemes);

    Status NewRandomAccessFile(const std::string& name, std::unique_ptr<RandomAccessFile>* result);
    Status NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result);
    Status NewAppendableFile(const std::string& name, std::unique_ptr<WritableFile>* result);
    Status NewReadOnlyMemoryRegionFromFile(const std::string& name, std::unique_ptr<ReadOnlyMemoryRegion>* result);
    Status FileExists(const std::string& name);
    bool FilesExist(const std::vector<std::string>& files, std::vector<Status>* status);
    Status GetChildren(const std::string& folder, std::vector<std::string>* result);
    Status GetMatchingPaths(const std::string& pattern, std::vector<std::string>* results);
    Status Stat(const std::string& name, FileStatistics* found);
    Status DeleteFile(const std::string& name);
    Status CreateDir(const std::string& name);
    Status RecursivelyCreateDir(const std::string& name);
    Status DeleteDir(const std::string& name);
    Status DeleteRecursively(const std::string& name, int64* undeleted_files, int64* undeleted_dirs);
    Status GetFileSize(const std::string& name, uint64* size);
    Status RenameFile(const std::string& source, const std::string& target);
    Status CopyFile(const std::string& source, const std::string& target);
    Status IsDirectory(const std::string& name);

    virtual uint64 NowNanos() const;
    virtual uint64 NowMicros() const { return NowNanos() / 1000; }
    virtual uint64 NowSeconds() const { return NowNanos() / 1000000000; }
    virtual void SleepForMicroseconds(int64 micros);
    // The caller deletes the thread.
    virtual Thread* StartThread(const ThreadOptions& options, const std::string& name, std::function<void()> work) TF_MUST_USE_RESULT;
    virtual void SchedClosure(std::function<void()> work);
};

Status ReadFileToString(Env* env, const std::string& name, std::string* data);
Status WriteStringToFile(Env* env, const std::string& name, StringPiece data);
// Messages in files, as bytes or as text.
Status ReadBinaryProto(Env* env, const std::string& name, protobuf::MessageLite* proto);
Status WriteBinaryProto(Env* env, const std::string& name, const protobuf::MessageLite& proto);
Status ReadTextProto(Env* env, const std::string& name, protobuf::Message* proto);
Status WriteTextProto(Env* env, const std::string& name, const protobuf::Message& proto);
// As text where the name ends with .pbtxt, else as bytes.
Status ReadTextOrBinaryProto(Env* env, const std::string& name, protobuf::Message* proto);

namespace register_file_system {

template <typename Factory>
struct Register {
    Register(Env* env, const std::string& scheme) {
        env->RegisterFileSystem(scheme, []() -> FileSystem* { return new Factory; }).IgnoreError();
    }
};

}  // namespace register_file_system
}  // namespace tensorflow

#define REGISTER_FILE_SYSTEM_ENV(env, scheme, Factory) EVERFLOW_REGISTER_FILE_SYSTEM(__COUNTER__, env, scheme, Factory)
#define EVERFLOW_REGISTER_FILE_SYSTEM(number, env, scheme, Factory)                                   \
    static const ::tensorflow::register_file_system::Register<Factory> EVERFLOW_JOINED(everflow_files_, number) TF_ATTRIBUTE_UNUSED(env, scheme)
#define REGISTER_FILE_SYSTEM(scheme, Factory) REGISTER_FILE_SYSTEM_ENV(::tensorflow::Env::Default(), scheme, Factory)

#endif
