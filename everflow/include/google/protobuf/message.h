// Protocol buffers in C++, as far as programs of TensorFlow touch them: messages with accessors, their bytes and their text.
//
// Everflow's own, and in a namespace of its own inside google::protobuf, so that a program may link with Google's library as well.
#ifndef GOOGLE_PROTOBUF_MESSAGE_H_
#define GOOGLE_PROTOBUF_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace google {
namespace protobuf {
inline namespace everflow {

typedef std::int32_t int32;
typedef std::uint32_t uint32;
typedef long long int64;
typedef unsigned long long uint64;

class Fields;

class Message {
public:
    virtual ~Message() {}
    virtual Message* New() const = 0;
    virtual std::string GetTypeName() const = 0;

    void Clear();
    // Bytes. Parsing gives false where there is none of a message's; what is not known is kept.
    bool SerializeToString(std::string* output) const;
    bool AppendToString(std::string* output) const;
    std::string SerializeAsString() const;
    bool SerializeToArray(void* data, int size) const;
    bool SerializeToOstream(std::ostream* output) const;
    bool ParseFromString(const std::string& data);
    bool ParseFromArray(const void* data, int size);
    bool ParseFromIstream(std::istream* input);
    bool MergeFromString(const std::string& data);
    size_t ByteSizeLong() const { return SerializeAsString().size(); }
    int ByteSize() const { return static_cast<int>(ByteSizeLong()); }
    bool IsInitialized() const { return true; }
    // A line for each field, or all in one line.
    std::string DebugString() const;
    std::string Utf8DebugString() const { return DebugString(); }
    std::string ShortDebugString() const;
    void MergeFrom(const Message& other) { MergeFromString(other.SerializeAsString()); }
    void CopyFrom(const Message& other) {
        if (this == &other) return;
        Clear();
        MergeFrom(other);
    }

    // Hands each field to whoever asks, by their numbers.
    virtual void Visit(Fields& fields) = 0;

protected:
    Message() {}
    Message(const Message&) = default;
    Message& operator=(const Message&) = default;

private:
    friend class WireReader;
    friend class WireWriter;
    std::string unknown_;
};

typedef Message MessageLite;

// -- what fields hold

// A message that may not be there.
template <typename T>
class One {
public:
    One() {}
    One(const One& other) : held_(other.held_ ? new T(*other.held_) : nullptr) {}
    One(One&& other) : held_(std::move(other.held_)) {}
    One& operator=(One other) { return held_.swap(other.held_), *this; }
    ~One() {}

    bool has() const { return held_ != nullptr; }
    const T& get() const { return held_ ? *held_ : T::default_instance(); }
    T* make() {
        if (!held_) held_.reset(new T);
        return held_.get();
    }
    void clear() { held_.reset(); }
    void take(T* message) { held_.reset(message); }
    T* release() { return held_.release(); }

private:
    std::unique_ptr<T> held_;
};

// Numbers.
template <typename T>
class RepeatedField {
public:
    typedef T value_type;
    typedef T* iterator;
    typedef const T* const_iterator;

    RepeatedField() : size_(0), room_(0) {}
    RepeatedField(const RepeatedField& other) : RepeatedField() { *this = other; }
    template <typename Iterator>
    RepeatedField(Iterator from, Iterator to) : RepeatedField() {
        for (; from != to; ++from) Add(*from);
    }
    RepeatedField& operator=(const RepeatedField& other) {
        if (this == &other) return *this;
        Clear();
        Reserve(other.size_);
        for (const T& value : other) Add(value);
        return *this;
    }

    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T& Get(int i) const { return values_[static_cast<size_t>(i)]; }
    const T& operator[](int i) const { return Get(i); }
    T& operator[](int i) { return *Mutable(i); }
    const T& at(int i) const { return Get(i); }
    T* Mutable(int i) { return &values_[static_cast<size_t>(i)]; }
    void Set(int i, const T& value) { *Mutable(i) = value; }
    void Add(const T& value) {
        const T kept = value;
        Reserve(size_ + 1);
        values_[static_cast<size_t>(size_++)] = kept;
    }
    T* Add() {
        Add(T());
        return Mutable(size_ - 1);
    }
    void Reserve(int size) {
        if (size <= room_) return;
        const int room = size > 2 * room_ ? size : 2 * room_;
        std::unique_ptr<T[]> larger(new T[static_cast<size_t>(room)]());
        for (int i = 0; i < size_; ++i) larger[static_cast<size_t>(i)] = Get(i);
        values_ = std::move(larger), room_ = room;
    }
    void Resize(int size, const T& value) {
        while (size_ < size) Add(value);
        Truncate(size);
    }
    void Truncate(int size) { size_ = size; }
    void RemoveLast() { --size_; }
    void Clear() { size_ = 0; }
    void CopyFrom(const RepeatedField& other) { *this = other; }
    void MergeFrom(const RepeatedField& other) {
        for (int i = 0, n = other.size(); i < n; ++i) Add(other.Get(i));
    }
    void Swap(RepeatedField* other) { std::swap(values_, other->values_), std::swap(size_, other->size_), std::swap(room_, other->room_); }
    const T* data() const { return values_.get(); }
    T* mutable_data() { return values_.get(); }
    iterator begin() { return values_.get(); }
    iterator end() { return values_.get() + size_; }
    const_iterator begin() const { return values_.get(); }
    const_iterator end() const { return values_.get() + size_; }

private:
    std::unique_ptr<T[]> values_;
    int size_, room_;
};

// Messages or texts, which stay where they are when more come.
template <typename T>
class RepeatedPtrField {
    template <typename Element, typename Inner>
    class Iterator {
    public:
        typedef std::ptrdiff_t difference_type;
        typedef T value_type;
        typedef Element* pointer;
        typedef Element& reference;
        typedef std::bidirectional_iterator_tag iterator_category;

        explicit Iterator(Inner at) : at_(at) {}
        Element& operator*() const { return **at_; }
        Element* operator->() const { return at_->get(); }
        Iterator& operator++() { return ++at_, *this; }
        Iterator operator++(int) {
            Iterator before(*this);
            ++at_;
            return before;
        }
        Iterator& operator--() { return --at_, *this; }
        Iterator operator+(std::ptrdiff_t n) const { return Iterator(at_ + n); }
        std::ptrdiff_t operator-(const Iterator& other) const { return at_ - other.at_; }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }
        bool operator!=(const Iterator& other) const { return at_ != other.at_; }

    private:
        Inner at_;
    };
    typedef std::vector<std::unique_ptr<T>> Held;

public:
    typedef T value_type;
    typedef Iterator<T, typename Held::iterator> iterator;
    typedef Iterator<const T, typename Held::const_iterator> const_iterator;

    RepeatedPtrField() {}
    RepeatedPtrField(const RepeatedPtrField& other) { MergeFrom(other); }
    RepeatedPtrField(RepeatedPtrField&& other) : held_(std::move(other.held_)) {}
    template <typename Other>
    RepeatedPtrField(Other from, Other to) {
        for (; from != to; ++from) *Add() = *from;
    }
    RepeatedPtrField& operator=(RepeatedPtrField other) { return held_.swap(other.held_), *this; }
    ~RepeatedPtrField() {}

    int size() const { return static_cast<int>(held_.size()); }
    bool empty() const { return held_.empty(); }
    const T& Get(int i) const { return *held_[static_cast<size_t>(i)]; }
    const T& operator[](int i) const { return Get(i); }
    T& operator[](int i) { return *Mutable(i); }
    const T& at(int i) const { return Get(i); }
    T* Mutable(int i) { return held_[static_cast<size_t>(i)].get(); }
    T* Add() {
        held_.emplace_back(new T());
        return held_.back().get();
    }
    void Add(T&& value) { *Add() = std::move(value); }
    void AddAllocated(T* value) { held_.emplace_back(value); }
    void Reserve(int size) { held_.reserve(static_cast<size_t>(size)); }
    void RemoveLast() { held_.pop_back(); }
    void DeleteSubrange(int start, int count) { held_.erase(held_.begin() + start, held_.begin() + start + count); }
    void SwapElements(int a, int b) { held_[static_cast<size_t>(a)].swap(held_[static_cast<size_t>(b)]); }
    void Clear() { held_.clear(); }
    void CopyFrom(const RepeatedPtrField& other) { *this = other; }
    void MergeFrom(const RepeatedPtrField& other) {
        for (int i = 0, n = other.size(); i < n; ++i) *Add() = other.Get(i);
    }
    void Swap(RepeatedPtrField* other) { held_.swap(other->held_); }
    iterator begin() { return iterator(held_.begin()); }
    iterator end() { return iterator(held_.end()); }
    const_iterator begin() const { return const_iterator(held_.begin()); }
    const_iterator end() const { return const_iterator(held_.end()); }

private:
    Held held_;
};

// Sorted by keys.
template <typename Key, typename T>
class Map {
    typedef std::map<Key, T> Held;

public:
    typedef Key key_type;
    typedef T mapped_type;
    typedef typename Held::value_type value_type;
    typedef typename Held::iterator iterator;
    typedef typename Held::const_iterator const_iterator;

    size_t size() const { return held_.size(); }
    bool empty() const { return held_.empty(); }
    T& operator[](const Key& key) { return held_[key]; }
    const T& at(const Key& key) const { return held_.at(key); }
    T& at(const Key& key) { return held_.at(key); }
    size_t count(const Key& key) const { return held_.count(key); }
    bool contains(const Key& key) const { return held_.count(key) != 0; }
    iterator find(const Key& key) { return held_.find(key); }
    const_iterator find(const Key& key) const { return held_.find(key); }
    std::pair<iterator, bool> insert(const value_type& entry) { return held_.insert(entry); }
    template <typename Iterator>
    void insert(Iterator from, Iterator to) {
        held_.insert(from, to);
    }
    size_t erase(const Key& key) { return held_.erase(key); }
    iterator erase(const_iterator at) { return held_.erase(at); }
    void clear() { held_.clear(); }
    void swap(Map& other) { held_.swap(other.held_); }
    iterator begin() { return held_.begin(); }
    iterator end() { return held_.end(); }
    const_iterator begin() const { return held_.begin(); }
    const_iterator end() const { return held_.end(); }

private:
    Held held_;
};

// -- fields, as those see them who read and write messages

enum class Kind { INT32, INT64, UINT32, UINT64, SINT32, SINT64, FIXED32, FIXED64, SFIXED32, SFIXED64, FLOAT, DOUBLE, BOOL, ENUM, STRING, BYTES, MESSAGE };

struct EnumName {
    const char* name;
    int number;
};

struct Field {
    int number;
    const char* name;
    Kind kind;
    // Where one of several fields is there at a time: the number of that one.
    int* which;
    // The names of an enum's values, up to one without name.
    const EnumName* names;

    Field(int number_, const char* name_, Kind kind_, int* which_ = nullptr, const EnumName* names_ = nullptr)
        : number(number_), name(name_), kind(kind_), which(which_), names(names_) {}
};

// A place for a message; a list of numbers; a list of messages; the entries of a map. Each for all types.
class MessagePlace {
public:
    virtual ~MessagePlace() {}
    virtual Message* Get() = 0;
    virtual Message* Make() = 0;
    virtual void Clear() = 0;
};
class NumberList {
public:
    virtual ~NumberList() {}
    virtual int Size() = 0;
    virtual void* At(int i) = 0;
    virtual void* Add() = 0;
    virtual void Clear() = 0;
};
class MessageList {
public:
    virtual ~MessageList() {}
    virtual int Size() = 0;
    virtual Message* At(int i) = 0;
    virtual Message* Add() = 0;
    virtual void Clear() = 0;
};
class EntryList {
public:
    virtual ~EntryList() {}
    // Goes on with the next entry; null behind the last.
    virtual Message* Next() = 0;
    virtual Message* New() = 0;
    virtual void Put(Message* entry) = 0;
    virtual void Clear() = 0;
};

// Whoever visits the fields of a message. Numbers are where `value` points to: an enum's as an int32.
class Fields {
public:
    virtual ~Fields() {}
    virtual void Number(const Field& field, void* value) = 0;
    virtual void Text(const Field& field, std::string* value) = 0;
    virtual void Nested(const Field& field, MessagePlace* value) = 0;
    virtual void Numbers(const Field& field, NumberList* values) = 0;
    virtual void Texts(const Field& field, RepeatedPtrField<std::string>* values) = 0;
    virtual void Several(const Field& field, MessageList* values) = 0;
    virtual void Entries(const Field& field, EntryList* entries) = 0;

    template <typename T>
    void operator()(const Field& field, T& value) {
        Number(field, &value);
    }
    void operator()(const Field& field, std::string& value) { Text(field, &value); }
    void operator()(const Field& field, RepeatedPtrField<std::string>& values) { Texts(field, &values); }
    template <typename T>
    void operator()(const Field& field, One<T>& value) {
        struct Place : MessagePlace {
            explicit Place(One<T>* o) : one(o) {}
            Message* Get() override { return one->has() ? one->make() : nullptr; }
            Message* Make() override { return one->make(); }
            void Clear() override { one->clear(); }
            One<T>* one;
        } place(&value);
        Nested(field, &place);
    }
    template <typename T>
    void operator()(const Field& field, RepeatedField<T>& values) {
        struct List : NumberList {
            explicit List(RepeatedField<T>* a) : all(a) {}
            int Size() override { return all->size(); }
            void* At(int i) override { return all->Mutable(i); }
            void* Add() override { return all->Add(); }
            void Clear() override { all->Clear(); }
            RepeatedField<T>* all;
        } list(&values);
        Numbers(field, &list);
    }
    template <typename T>
    void operator()(const Field& field, RepeatedPtrField<T>& values) {
        struct List : MessageList {
            explicit List(RepeatedPtrField<T>* a) : all(a) {}
            int Size() override { return all->size(); }
            Message* At(int i) override { return all->Mutable(i); }
            Message* Add() override { return all->Add(); }
            void Clear() override { all->Clear(); }
            RepeatedPtrField<T>* all;
        } list(&values);
        Several(field, &list);
    }
    // A map is a list of messages with a key and a value.
    template <typename Key, typename T>
    void operator()(const Field& field, Map<Key, T>& map, Kind key_kind, Kind value_kind, const EnumName* names = nullptr);
};

// An entry of a map, which holds its value or stands for that of the map.
template <typename Key, typename T>
class MapEntry : public Message {
public:
    MapEntry(Kind key_kind, Kind value_kind, const EnumName* names) : key_kind_(key_kind), value_kind_(value_kind), names_(names), own_(), value_(&own_) {}
    Message* New() const override { return new MapEntry(key_kind_, value_kind_, names_); }
    std::string GetTypeName() const override { return "entry"; }
    void Visit(Fields& fields) override {
        fields(Field(1, "key", key_kind_, &always_), key_);
        VisitValue(fields, value_);
    }
    void Show(const Key& key, T* value) { key_ = key, value_ = value; }
    const Key& key() const { return key_; }
    T& value() { return *value_; }

private:
    void VisitValue(Fields& fields, Message* value) {
        struct Place : MessagePlace {
            explicit Place(Message* m) : message(m) {}
            Message* Get() override { return message; }
            Message* Make() override { return message; }
            void Clear() override { message->Clear(); }
            Message* message;
        } place(value);
        fields.Nested(Field(2, "value", Kind::MESSAGE), &place);
    }
    void VisitValue(Fields& fields, std::string* value) { fields(Field(2, "value", value_kind_, &always_too_), *value); }
    template <typename Value>
    void VisitValue(Fields& fields, Value* value) {
        VisitOther(fields, value, std::is_base_of<Message, Value>());
    }
    template <typename Value>
    void VisitOther(Fields& fields, Value* value, std::true_type) {
        VisitValue(fields, static_cast<Message*>(value));
    }
    template <typename Value>
    void VisitOther(Fields& fields, Value* value, std::false_type) {
        fields(Field(2, "value", value_kind_, &always_too_, names_), *value);
    }

    Kind key_kind_, value_kind_;
    const EnumName* names_;
    // Key and value are written whatever they are.
    int always_ = 1, always_too_ = 2;
    Key key_ = Key();
    T own_;
    T* value_;
    MapEntry(const MapEntry&) = delete;
    void operator=(const MapEntry&) = delete;
};

template <typename Key, typename T>
void Fields::operator()(const Field& field, Map<Key, T>& map, Kind key_kind, Kind value_kind, const EnumName* names) {
    typedef MapEntry<Key, T> Entry;
    struct List : EntryList {
        List(Map<Key, T>* m, Kind k, Kind v, const EnumName* n) : map(m), at(m->begin()), shown(k, v, n) {}
        Message* Next() override {
            if (at == map->end()) return nullptr;
            shown.Show(at->first, &at->second);
            ++at;
            return &shown;
        }
        Message* New() override { return shown.New(); }
        void Put(Message* entry) override {
            Entry* made = static_cast<Entry*>(entry);
            (*map)[made->key()] = made->value();
        }
        void Clear() override { map->clear(); }
        Map<Key, T>* map;
        typename Map<Key, T>::iterator at;
        Entry shown;
    } list(&map, key_kind, value_kind, names);
    Entries(field, &list);
}

// Has one of several fields be the one that is there, empty.
template <typename T>
void MakeEmpty(T& value) {
    value = T();
}
template <typename T>
T& Chosen(int& which, int number, T& value) {
    if (which != number) which = number, MakeEmpty(value);
    return value;
}
template <typename T>
const T& Default() {
    static const T value = T();
    return value;
}

// The name of an enum's value, or nothing; and the value of a name.
std::string NameOfEnum(const EnumName* names, int number);
bool ParseEnum(const EnumName* names, const std::string& name, int* number);

}  // namespace everflow
}  // namespace protobuf
}  // namespace google

// -- the members of messages. `FIELD` is the name of a field, `field_` what holds it.

#define EVERFLOW_MESSAGE(TYPE, NAME)                                                                     \
public:                                                                                                  \
    static const TYPE& default_instance() { return ::google::protobuf::Default<TYPE>(); }                \
    TYPE* New() const override { return new TYPE; }                                                      \
    std::string GetTypeName() const override { return NAME; }                                            \
    void Swap(TYPE* other) { std::swap(*this, *other); }                                                 \
    void CopyFrom(const TYPE& other) { *this = other; }                                                  \
    void MergeFrom(const TYPE& other) { ::google::protobuf::Message::MergeFrom(other); }                 \
    void Visit(::google::protobuf::Fields& fields) override;

#define EVERFLOW_NUMBER(TYPE, FIELD)                   \
private:                                               \
    TYPE FIELD##_ = TYPE();                            \
                                                       \
public:                                                \
    TYPE FIELD() const { return FIELD##_; }            \
    void set_##FIELD(TYPE value) { FIELD##_ = value; } \
    void clear_##FIELD() { FIELD##_ = TYPE(); }

#define EVERFLOW_ENUM(TYPE, FIELD)                                     \
private:                                                               \
    ::google::protobuf::int32 FIELD##_ = 0;                            \
                                                                       \
public:                                                                \
    TYPE FIELD() const { return static_cast<TYPE>(FIELD##_); }         \
    void set_##FIELD(TYPE value) { FIELD##_ = static_cast<int>(value); } \
    void clear_##FIELD() { FIELD##_ = 0; }

#define EVERFLOW_TEXT(FIELD)                                                                              \
private:                                                                                                  \
    std::string FIELD##_;                                                                                 \
                                                                                                          \
public:                                                                                                   \
    const std::string& FIELD() const { return FIELD##_; }                                                 \
    void set_##FIELD(const std::string& value) { FIELD##_ = value; }                                      \
    void set_##FIELD(const char* value) { FIELD##_ = value; }                                             \
    void set_##FIELD(const void* value, size_t size) { FIELD##_.assign(static_cast<const char*>(value), size); } \
    std::string* mutable_##FIELD() { return &FIELD##_; }                                                  \
    void clear_##FIELD() { FIELD##_.clear(); }

#define EVERFLOW_ONE(TYPE, FIELD)                                     \
private:                                                              \
    ::google::protobuf::One<TYPE> FIELD##_;                           \
                                                                      \
public:                                                               \
    bool has_##FIELD() const { return FIELD##_.has(); }               \
    const TYPE& FIELD() const { return FIELD##_.get(); }              \
    TYPE* mutable_##FIELD() { return FIELD##_.make(); }               \
    void clear_##FIELD() { FIELD##_.clear(); }                        \
    void set_allocated_##FIELD(TYPE* value) { FIELD##_.take(value); } \
    TYPE* release_##FIELD() { return FIELD##_.release(); }

#define EVERFLOW_NUMBERS(TYPE, FIELD)                                                         \
private:                                                                                      \
    ::google::protobuf::RepeatedField<TYPE> FIELD##_;                                         \
                                                                                              \
public:                                                                                       \
    int FIELD##_size() const { return FIELD##_.size(); }                                      \
    TYPE FIELD(int i) const { return FIELD##_.Get(i); }                                       \
    void set_##FIELD(int i, TYPE value) { FIELD##_.Set(i, value); }                           \
    void add_##FIELD(TYPE value) { FIELD##_.Add(value); }                                     \
    const ::google::protobuf::RepeatedField<TYPE>& FIELD() const { return FIELD##_; }         \
    ::google::protobuf::RepeatedField<TYPE>* mutable_##FIELD() { return &FIELD##_; }          \
    void clear_##FIELD() { FIELD##_.Clear(); }

#define EVERFLOW_ENUMS(TYPE, FIELD)                                                           \
private:                                                                                      \
    ::google::protobuf::RepeatedField< ::google::protobuf::int32> FIELD##_;                   \
                                                                                              \
public:                                                                                       \
    int FIELD##_size() const { return FIELD##_.size(); }                                      \
    TYPE FIELD(int i) const { return static_cast<TYPE>(FIELD##_.Get(i)); }                    \
    void set_##FIELD(int i, TYPE value) { FIELD##_.Set(i, static_cast<int>(value)); }         \
    void add_##FIELD(TYPE value) { FIELD##_.Add(static_cast<int>(value)); }                   \
    const ::google::protobuf::RepeatedField< ::google::protobuf::int32>& FIELD() const { return FIELD##_; } \
    ::google::protobuf::RepeatedField< ::google::protobuf::int32>* mutable_##FIELD() { return &FIELD##_; }  \
    void clear_##FIELD() { FIELD##_.Clear(); }

#define EVERFLOW_TEXTS(FIELD)                                                                      \
private:                                                                                           \
    ::google::protobuf::RepeatedPtrField<std::string> FIELD##_;                                    \
                                                                                                   \
public:                                                                                            \
    int FIELD##_size() const { return FIELD##_.size(); }                                           \
    const std::string& FIELD(int i) const { return FIELD##_.Get(i); }                              \
    std::string* mutable_##FIELD(int i) { return FIELD##_.Mutable(i); }                            \
    void set_##FIELD(int i, const std::string& value) { *FIELD##_.Mutable(i) = value; }            \
    void set_##FIELD(int i, const char* value) { *FIELD##_.Mutable(i) = value; }                   \
    std::string* add_##FIELD() { return FIELD##_.Add(); }                                          \
    void add_##FIELD(const std::string& value) { *FIELD##_.Add() = value; }                        \
    void add_##FIELD(const char* value) { *FIELD##_.Add() = value; }                               \
    void add_##FIELD(const void* value, size_t size) { FIELD##_.Add()->assign(static_cast<const char*>(value), size); } \
    const ::google::protobuf::RepeatedPtrField<std::string>& FIELD() const { return FIELD##_; }    \
    ::google::protobuf::RepeatedPtrField<std::string>* mutable_##FIELD() { return &FIELD##_; }     \
    void clear_##FIELD() { FIELD##_.Clear(); }

#define EVERFLOW_SEVERAL(TYPE, FIELD)                                                       \
private:                                                                                    \
    ::google::protobuf::RepeatedPtrField<TYPE> FIELD##_;                                    \
                                                                                            \
public:                                                                                     \
    int FIELD##_size() const { return FIELD##_.size(); }                                    \
    const TYPE& FIELD(int i) const { return FIELD##_.Get(i); }                              \
    TYPE* mutable_##FIELD(int i) { return FIELD##_.Mutable(i); }                            \
    TYPE* add_##FIELD() { return FIELD##_.Add(); }                                          \
    const ::google::protobuf::RepeatedPtrField<TYPE>& FIELD() const { return FIELD##_; }    \
    ::google::protobuf::RepeatedPtrField<TYPE>* mutable_##FIELD() { return &FIELD##_; }     \
    void clear_##FIELD() { FIELD##_.Clear(); }

// `...` is the type of the map, whose commas a macro would take for its own.
#define EVERFLOW_MAP(FIELD, ...)                              \
private:                                                      \
    __VA_ARGS__ FIELD##_;                                     \
                                                              \
public:                                                       \
    int FIELD##_size() const { return static_cast<int>(FIELD##_.size()); } \
    const __VA_ARGS__& FIELD() const { return FIELD##_; }     \
    __VA_ARGS__* mutable_##FIELD() { return &FIELD##_; }      \
    void clear_##FIELD() { FIELD##_.clear(); }

// One of several: `WHICH` is the name of the choice, `CONSTANT` that of this field in it.
#define EVERFLOW_CHOICE(WHICH, CASE)                                             \
private:                                                                         \
    int WHICH##_which_ = 0;                                                      \
                                                                                 \
public:                                                                          \
    CASE WHICH##_case() const { return static_cast<CASE>(WHICH##_which_); }      \
    void clear_##WHICH() { WHICH##_which_ = 0; }

#define EVERFLOW_HAS_CHOICE(WHICH, CONSTANT, FIELD)                             \
    bool has_##FIELD() const { return WHICH##_which_ == CONSTANT; }             \
    void clear_##FIELD() {                                                      \
        if (has_##FIELD()) clear_##WHICH();                                     \
    }

#define EVERFLOW_CHOICE_NUMBER(WHICH, CONSTANT, TYPE, FIELD)                    \
private:                                                                        \
    TYPE FIELD##_ = TYPE();                                                     \
                                                                                \
public:                                                                         \
    EVERFLOW_HAS_CHOICE(WHICH, CONSTANT, FIELD)                                 \
    TYPE FIELD() const { return has_##FIELD() ? FIELD##_ : TYPE(); }            \
    void set_##FIELD(TYPE value) { WHICH##_which_ = CONSTANT, FIELD##_ = value; }

#define EVERFLOW_CHOICE_ENUM(WHICH, CONSTANT, TYPE, FIELD)                                 \
private:                                                                                   \
    ::google::protobuf::int32 FIELD##_ = 0;                                                \
                                                                                           \
public:                                                                                    \
    EVERFLOW_HAS_CHOICE(WHICH, CONSTANT, FIELD)                                            \
    TYPE FIELD() const { return static_cast<TYPE>(has_##FIELD() ? FIELD##_ : 0); }         \
    void set_##FIELD(TYPE value) { WHICH##_which_ = CONSTANT, FIELD##_ = static_cast<int>(value); }

#define EVERFLOW_CHOICE_TEXT(WHICH, CONSTANT, FIELD)                                                       \
private:                                                                                                   \
    std::string FIELD##_;                                                                                  \
                                                                                                           \
public:                                                                                                    \
    EVERFLOW_HAS_CHOICE(WHICH, CONSTANT, FIELD)                                                            \
    const std::string& FIELD() const { return has_##FIELD() ? FIELD##_ : ::google::protobuf::Default<std::string>(); } \
    std::string* mutable_##FIELD() { return &::google::protobuf::Chosen(WHICH##_which_, CONSTANT, FIELD##_); } \
    void set_##FIELD(const std::string& value) { *mutable_##FIELD() = value; }                             \
    void set_##FIELD(const char* value) { *mutable_##FIELD() = value; }                                    \
    void set_##FIELD(const void* value, size_t size) { mutable_##FIELD()->assign(static_cast<const char*>(value), size); }

#define EVERFLOW_CHOICE_ONE(WHICH, CONSTANT, TYPE, FIELD)                                                    \
private:                                                                                                     \
    ::google::protobuf::One<TYPE> FIELD##_;                                                                  \
                                                                                                             \
public:                                                                                                      \
    EVERFLOW_HAS_CHOICE(WHICH, CONSTANT, FIELD)                                                              \
    const TYPE& FIELD() const { return has_##FIELD() ? FIELD##_.get() : ::google::protobuf::Default<TYPE>(); } \
    TYPE* mutable_##FIELD() { return ::google::protobuf::Chosen(WHICH##_which_, CONSTANT, FIELD##_).make(); } \
    void set_allocated_##FIELD(TYPE* value) {                                                                \
        clear_##WHICH();                                                                                     \
        if (value) ::google::protobuf::Chosen(WHICH##_which_, CONSTANT, FIELD##_).take(value);               \
    }                                                                                                        \
    TYPE* release_##FIELD() {                                                                                \
        if (!has_##FIELD()) return nullptr;                                                                  \
        clear_##WHICH();                                                                                     \
        return FIELD##_.release();                                                                           \
    }

#endif
