// Things that outlive a run, found by container and name.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_MGR_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_MGR_H_

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <typeinfo>

#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/refcount.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

class ResourceBase : public core::RefCounted {
public:
    virtual std::string DebugString() const { return ""; }
    virtual int64 MemoryUsed() const { return 0; }
};

// Where a resource is to be found: what tensors of type DT_RESOURCE hold.
class ResourceHandle {
public:
    const std::string& device() const { return device_; }
    const std::string& container() const { return container_; }
    const std::string& name() const { return name_; }
    const std::string& maybe_type_name() const { return type_; }
    uint64 hash_code() const { return hash_; }
    void set_device(const std::string& device) { device_ = device; }
    void set_container(const std::string& container) { container_ = container; }
    void set_name(const std::string& name) { name_ = name; }
    void set_maybe_type_name(const std::string& type) { type_ = type; }
    void set_hash_code(uint64 hash) { hash_ = hash; }
    std::string DebugString() const { return "container: " + container_ + " name: " + name_ + " type: " + type_; }

private:
    std::string device_, container_, name_, type_;
    uint64 hash_ = 0;
};

class ResourceMgr {
public:
    ResourceMgr() : default_container_("localhost") {}
    explicit ResourceMgr(const std::string& default_container) : default_container_(default_container) {}
    ~ResourceMgr() { Clear(); }

    const std::string& default_container() const { return default_container_; }

    // Keeps a resource that the caller made.
    template <typename T>
    Status Create(const std::string& container, const std::string& name, T* resource) {
        return DoCreate(container, typeid(T).name(), name, resource);
    }
    // The resource, with a reference that the caller gives back.
    template <typename T>
    Status Lookup(const std::string& container, const std::string& name, T** resource) const {
        ResourceBase* found = nullptr;
        const Status status = DoLookup(container, typeid(T).name(), name, &found);
        if (status.ok()) *resource = static_cast<T*>(found);
        return status;
    }
    template <typename T>
    Status LookupOrCreate(const std::string& container, const std::string& name, T** resource, std::function<Status(T**)> creator) {
        if (Lookup(container, name, resource).ok()) return Status::OK();
        mutex_lock one_at_a_time(creating_);
        if (Lookup(container, name, resource).ok()) return Status::OK();
        TF_RETURN_IF_ERROR(creator(resource));
        TF_RETURN_IF_ERROR(Create(container, name, *resource));
        (*resource)->Ref();
        return Status::OK();
    }
    template <typename T>
    Status Delete(const std::string& container, const std::string& name) {
        return DoDelete(container, typeid(T).name(), name);
    }
    Status Delete(const ResourceHandle& handle) { return DoDelete(handle.container(), handle.maybe_type_name(), handle.name()); }
    Status Cleanup(const std::string& container);
    void Clear();

private:
    typedef std::tuple<std::string, std::string, std::string> Key;

    Key KeyOf(const std::string& container, const std::string& type, const std::string& name) const {
        return Key(container.empty() ? default_container_ : container, type, name);
    }
    Status DoCreate(const std::string& container, const std::string& type, const std::string& name, ResourceBase* resource);
    Status DoLookup(const std::string& container, const std::string& type, const std::string& name, ResourceBase** resource) const;
    Status DoDelete(const std::string& container, const std::string& type, const std::string& name);

    const std::string default_container_;
    mutable mutex lock_;
    mutex creating_;
    std::map<Key, ResourceBase*> resources_;
};

// The container and the name of a resource, by the attributes `container` and `shared_name` of the node.
class ContainerInfo {
public:
    template <typename Construction>
    Status Init(ResourceMgr* manager, const Construction& node, bool use_node_name_as_default = false) {
        manager_ = manager;
        std::string shared;
        if (node.node().attrs.has("container")) TF_RETURN_IF_ERROR(node.node().attrs.get("container", &container_));
        if (node.node().attrs.has("shared_name")) TF_RETURN_IF_ERROR(node.node().attrs.get("shared_name", &shared));
        if (container_.empty()) container_ = manager->default_container();
        private_ = shared.empty() && !use_node_name_as_default;
        name_ = shared.empty() ? node.name() : shared;
        return Status::OK();
    }
    ResourceMgr* resource_manager() const { return manager_; }
    const std::string& container() const { return container_; }
    const std::string& name() const { return name_; }
    bool resource_is_private_to_kernel() const { return private_; }

private:
    ResourceMgr* manager_ = nullptr;
    std::string container_, name_;
    bool private_ = false;
};

}  // namespace tensorflow

#endif
