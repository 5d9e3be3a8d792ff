#ifndef SCALE_H_
#define SCALE_H_
template <typename Device, typename T>
struct Scale {
    void operator()(const Device& device, int size, const T* in, T* out);
};
#endif
