// A file system for test_files.py: files in memory, under drawer://.
#include <map>

#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/mutex.h"

namespace {

using namespace tensorflow;

struct Drawer {
    mutex lock;
    // Folders end with a slash.
    std::map<std::string, std::string> files{{"drawer://top/", ""}};
};

Drawer& drawer() {
    static Drawer* const all = new Drawer;
    return *all;
}

class Reader : public RandomAccessFile {
public:
    explicit Reader(const std::string& name) : name_(name) {}
    Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const override {
        mutex_lock lock(drawer().lock);
        const std::string& text = drawer().files[name_];
        const size_t start = std::min<size_t>(offset, text.size()), count = std::min(n, text.size() - start);
        text.copy(scratch, count, start);
        *result = StringPiece(scratch, count);
        return count == n ? Status::OK() : errors::OutOfRange("the file ends there");
    }

private:
    const std::string name_;
};

class Writer : public WritableFile {
public:
    explicit Writer(const std::string& name) : name_(name) {}
    Status Append(StringPiece data) override {
        mutex_lock lock(drawer().lock);
        if (drawer().files[name_].size() + data.size() > 1000000) return errors::ResourceExhausted("the drawer is full");
        drawer().files[name_] += std::string(data);
        return Status::OK();
    }
    Status Close() override { return Status::OK(); }
    Status Flush() override { return Status::OK(); }
    Status Sync() override { return Status::OK(); }

private:
    const std::string name_;
};

class DrawerFiles : public FileSystem {
public:
    Status NewRandomAccessFile(const std::string& name, std::unique_ptr<RandomAccessFile>* result) override {
        TF_RETURN_IF_ERROR(FileExists(name));
        result->reset(new Reader(name));
        return Status::OK();
    }
    Status NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result) override {
        if (name.find("locked") != std::string::npos) return errors::PermissionDenied(name, " is locked");
        mutex_lock lock(drawer().lock);
        drawer().files[name].clear();
        result->reset(new Writer(name));
        return Status::OK();
    }
    Status NewAppendableFile(const std::string& name, std::unique_ptr<WritableFile>* result) override {
        result->reset(new Writer(name));
        return Status::OK();
    }
    Status NewReadOnlyMemoryRegionFromFile(const std::string&, std::unique_ptr<ReadOnlyMemoryRegion>*) override {
        return errors::Unimplemented("no regions of memory");
    }
    Status FileExists(const std::string& name) override {
        mutex_lock lock(drawer().lock);
        if (drawer().files.count(name) || drawer().files.count(Folder(name))) return Status::OK();
        return errors::NotFound(name, " is not in the drawer");
    }
    Status GetChildren(const std::string& folder, std::vector<std::string>* result) override {
        mutex_lock lock(drawer().lock);
        const std::string prefix = Folder(folder);
        if (!drawer().files.count(prefix)) return errors::NotFound(folder, " is not in the drawer");
        for (const auto& file : drawer().files) {
            if (file.first.compare(0, prefix.size(), prefix) || file.first == prefix) continue;
            const std::string rest = file.first.substr(prefix.size());
            if (rest.find('/') >= rest.size() - 1) result->push_back(rest);
        }
        return Status::OK();
    }
    Status Stat(const std::string& name, FileStatistics* found) override {
        TF_RETURN_IF_ERROR(FileExists(name));
        mutex_lock lock(drawer().lock);
        const bool is_folder = drawer().files.count(Folder(name)) != 0;
        *found = FileStatistics(is_folder ? 0 : static_cast<int64>(drawer().files[name].size()), 7000000000, is_folder);
        return Status::OK();
    }
    Status DeleteFile(const std::string& name) override {
        mutex_lock lock(drawer().lock);
        return drawer().files.erase(name) ? Status::OK() : errors::NotFound(name, " is not in the drawer");
    }
    Status CreateDir(const std::string& name) override {
        mutex_lock lock(drawer().lock);
        return drawer().files.emplace(Folder(name), "").second ? Status::OK() : errors::AlreadyExists(name, " is there");
    }
    Status DeleteDir(const std::string& name) override {
        mutex_lock lock(drawer().lock);
        drawer().files.erase(Folder(name));
        return Status::OK();
    }
    Status GetFileSize(const std::string& name, uint64* size) override {
        FileStatistics found;
        TF_RETURN_IF_ERROR(Stat(name, &found));
        *size = static_cast<uint64>(found.length);
        return Status::OK();
    }
    Status RenameFile(const std::string& source, const std::string& target) override {
        TF_RETURN_IF_ERROR(FileExists(source));
        mutex_lock lock(drawer().lock);
        drawer().files[target] = drawer().files[source];
        drawer().files.erase(source);
        return Status::OK();
    }

private:
    static std::string Folder(const std::string& name) { return name.back() == '/' ? name : name + "/"; }
};

REGISTER_FILE_SYSTEM("drawer", DrawerFiles);

}  // namespace
