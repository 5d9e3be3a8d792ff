// Where memory comes from. There is one place here; programs name it when they make tensors.
#ifndef TENSORFLOW_CORE_FRAMEWORK_ALLOCATOR_H_
#define TENSORFLOW_CORE_FRAMEWORK_ALLOCATOR_H_

#include <cstddef>
#include <string>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

struct AllocatorAttributes {
    void set_on_host(bool v) { on_host_ = v; }
    bool on_host() const { return on_host_; }
    void set_nic_compatible(bool) {}
    void set_gpu_compatible(bool) {}

private:
    bool on_host_ = false;
};

struct AllocationAttributes {};

class Allocator {
public:
    static constexpr size_t kAllocatorAlignment = 64;

    virtual ~Allocator() {}
    virtual std::string Name() { return "cpu"; }
    virtual void* AllocateRaw(size_t alignment, size_t bytes);
    virtual void DeallocateRaw(void* memory);
};

Allocator* cpu_allocator();

}  // namespace tensorflow

#endif
