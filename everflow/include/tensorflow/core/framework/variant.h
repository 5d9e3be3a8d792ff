// A value of any type that can be copied: what tensors of type DT_VARIANT hold.
#ifndef TENSORFLOW_CORE_FRAMEWORK_VARIANT_H_
#define TENSORFLOW_CORE_FRAMEWORK_VARIANT_H_

#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tensorflow {

class Variant {
public:
    Variant() {}
    Variant(const Variant& other) : held_(other.held_ ? other.held_->Copy() : nullptr) {}
    Variant(Variant&& other) : held_(std::move(other.held_)) {}
    template <typename T, typename = typename std::enable_if<!std::is_same<typename std::decay<T>::type, Variant>::value>::type>
    Variant(T&& value) : held_(new HeldValue<typename std::decay<T>::type>(std::forward<T>(value))) {}
    Variant& operator=(Variant other) { return held_.swap(other.held_), *this; }

    bool is_empty() const { return !held_; }
    void clear() { held_.reset(); }
    void swap(Variant& other) { held_.swap(other.held_); }
    // The value, or null where one of another type is held.
    template <typename T>
    T* get() {
        return held_ && held_->Type() == typeid(T) ? &static_cast<HeldValue<T>*>(held_.get())->value : nullptr;
    }
    template <typename T>
    const T* get() const {
        return const_cast<Variant*>(this)->get<T>();
    }
    std::string TypeName() const { return held_ ? held_->Type().name() : ""; }
    std::string DebugString() const { return "Variant<type: " + TypeName() + ">"; }

private:
    struct Held {
        virtual ~Held() {}
        virtual Held* Copy() const = 0;
        virtual const std::type_info& Type() const = 0;
    };
    template <typename T>
    struct HeldValue : Held {
        explicit HeldValue(const T& v) : value(v) {}
        explicit HeldValue(T&& v) : value(std::move(v)) {}
        Held* Copy() const override { return new HeldValue(value); }
        const std::type_info& Type() const override { return typeid(T); }
        T value;
    };
    std::unique_ptr<Held> held_;
};

}  // namespace tensorflow

#endif
