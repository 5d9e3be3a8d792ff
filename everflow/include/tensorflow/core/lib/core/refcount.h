// Things that live as long as somebody counts on them.
#ifndef TENSORFLOW_CORE_LIB_CORE_REFCOUNT_H_
#define TENSORFLOW_CORE_LIB_CORE_REFCOUNT_H_

#include <atomic>

namespace tensorflow {
namespace core {

class RefCounted {
public:
    RefCounted() : count_(1) {}
    void Ref() const { count_.fetch_add(1); }
    bool Unref() const {
        if (count_.fetch_sub(1) != 1) return false;
        delete this;
        return true;
    }
    bool RefCountIsOne() const { return count_.load() == 1; }

protected:
    virtual ~RefCounted() {}

private:
    mutable std::atomic<int> count_;
    RefCounted(const RefCounted&) = delete;
    void operator=(const RefCounted&) = delete;
};

class ScopedUnref {
public:
    explicit ScopedUnref(RefCounted* of) : of_(of) {}
    ~ScopedUnref() {
        if (of_) of_->Unref();
    }

private:
    RefCounted* of_;
    ScopedUnref(const ScopedUnref&) = delete;
    void operator=(const ScopedUnref&) = delete;
};

}  // namespace core
}  // namespace tensorflow

#endif
