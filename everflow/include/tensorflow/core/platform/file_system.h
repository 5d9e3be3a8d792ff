// Files wherever they are: a class for each scheme (`ram` in ram://folder/name), registered with REGISTER_FILE_SYSTEM.
#ifndef TENSORFLOW_CORE_PLATFORM_FILE_SYSTEM_H_
#define TENSORFLOW_CORE_PLATFORM_FILE_SYSTEM_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/lib/core/stringpiece.h"
#include "tensorflow/core/platform/macros.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

struct FileStatistics {
    FileStatistics() {}
    FileStatistics(int64 bytes, int64 nanoseconds, bool is_folder) : length(bytes), mtime_nsec(nanoseconds), is_directory(is_folder) {}
    int64 length = -1;
    int64 mtime_nsec = 0;
    bool is_directory = false;
};

// A file that is read from anywhere, by any number of threads.
class RandomAccessFile {
public:
    RandomAccessFile() {}
    virtual ~RandomAccessFile() {}
    virtual Status Name(StringPiece*) const { return errors::Unimplemented("This file has no name"); }
    // Up to n bytes from `offset` on; `result` may lie in `scratch`. OUT_OF_RANGE where there are fewer than n.
    virtual Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const = 0;

private:
    TF_DISALLOW_COPY_AND_ASSIGN(RandomAccessFile);
};

// A file that is written from its start, or from its end, on.
class WritableFile {
public:
    WritableFile() {}
    virtual ~WritableFile() {}
    virtual Status Append(StringPiece data) = 0;
    virtual Status Close() = 0;
    virtual Status Flush() = 0;
    virtual Status Name(StringPiece*) const { return errors::Unimplemented("This file has no name"); }
    virtual Status Sync() = 0;
    virtual Status Tell(int64* position) {
        *position = -1;
        return errors::Unimplemented("This file does not tell its position");
    }

private:
    TF_DISALLOW_COPY_AND_ASSIGN(WritableFile);
};

class ReadOnlyMemoryRegion {
public:
    ReadOnlyMemoryRegion() {}
    virtual ~ReadOnlyMemoryRegion() {}
    virtual const void* data() = 0;
    virtual uint64 length() = 0;
};

class FileSystem {
public:
    FileSystem() {}
    virtual ~FileSystem();

    virtual Status NewRandomAccessFile(const std::string& name, std::unique_ptr<RandomAccessFile>* result) = 0;
    virtual Status NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result) = 0;
    virtual Status NewAppendableFile(const std::string& name, std::unique_ptr<WritableFile>* result) = 0;
    virtual Status NewReadOnlyMemoryRegionFromFile(const std::string& name, std::unique_ptr<ReadOnlyMemoryRegion>* result) = 0;
    virtual Status FileExists(const std::string& name) = 0;
    virtual bool FilesExist(const std::vector<std::string>& files, std::vector<Status>* status);
    // The names in a folder, without it.
    virtual Status GetChildren(const std::string& folder, std::vector<std::string>* result) = 0;
    virtual Status GetMatchingPaths(const std::string& pattern, std::vector<std::string>* results);
    virtual Status Stat(const std::string& name, FileStatistics* found) = 0;
    virtual Status DeleteFile(const std::string& name) = 0;
    virtual Status CreateDir(const std::string& name) = 0;
    virtual Status RecursivelyCreateDir(const std::string& name);
    virtual Status DeleteDir(const std::string& name) = 0;
    virtual Status DeleteRecursively(const std::string& name, int64* undeleted_files, int64* undeleted_dirs);
    virtual Status GetFileSize(const std::string& name, uint64* size) = 0;
    virtual Status RenameFile(const std::string& source, const std::string& target) = 0;
    virtual Status CopyFile(const std::string& source, const std::string& target);
    virtual std::string TranslateName(const std::string& name) const;
    virtual Status IsDirectory(const std::string& name);
    virtual void FlushCaches() {}
};

// A base for file systems that offer less than all.
class NullFileSystem : public FileSystem {
public:
    Status NewRandomAccessFile(const std::string&, std::unique_ptr<RandomAccessFile>*) override { return Refused("NewRandomAccessFile"); }
    Status NewWritableFile(const std::string&, std::unique_ptr<WritableFile>*) override { return Refused("NewWritableFile"); }
    Status NewAppendableFile(const std::string&, std::unique_ptr<WritableFile>*) override { return Refused("NewAppendableFile"); }
    Status NewReadOnlyMemoryRegionFromFile(const std::string&, std::unique_ptr<ReadOnlyMemoryRegion>*) override {
        return Refused("NewReadOnlyMemoryRegionFromFile");
    }
    Status FileExists(const std::string&) override { return Refused("FileExists"); }
    Status GetChildren(const std::string&, std::vector<std::string>*) override { return Refused("GetChildren"); }
    Status Stat(const std::string&, FileStatistics*) override { return Refused("Stat"); }
    Status DeleteFile(const std::string&) override { return Refused("DeleteFile"); }
    Status CreateDir(const std::string&) override { return Refused("CreateDir"); }
    Status DeleteDir(const std::string&) override { return Refused("DeleteDir"); }
    Status GetFileSize(const std::string&, uint64*) override { return Refused("GetFileSize"); }
    Status RenameFile(const std::string&, const std::string&) override { return Refused("RenameFile"); }

private:
    static Status Refused(const char* what) { return errors::Unimplemented(what, " unimplemented"); }
};

class FileSystemRegistry {
public:
    typedef std::function<FileSystem*()> Factory;
    virtual ~FileSystemRegistry() {}
    virtual Status Register(const std::string& scheme, Factory factory) = 0;
    virtual FileSystem* Lookup(const std::string& scheme) = 0;
    virtual Status GetRegisteredFileSystemSchemes(std::vector<std::string>* schemes) = 0;
};

}  // namespace tensorflow

#endif
