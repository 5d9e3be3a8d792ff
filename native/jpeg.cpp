// JPEG files, read and written with libjpeg-turbo where the build found it.
#include "images.h"

#ifdef EVERFLOW_JPEG

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>

// The library's header wants the names of cstdio.
#include <jpeglib.h>

namespace nb = nanobind;

namespace everflow {
namespace {

// Top, left, height and width of what is wanted, in pixels of the scaled picture.
using Window = std::tuple<int64_t, int64_t, int64_t, int64_t>;

// TensorFlow refuses pictures of this many numbers.
constexpr int64_t kTooMany = int64_t{1} << 29;

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Bytes = std::unique_ptr<uint8_t, Free>;

// The library is C: its errors jump back to where they are dealt with, over frames that own nothing.
struct Trouble : jpeg_error_mgr {
    std::jmp_buf back;

    Trouble() {
        jpeg_std_error(this);
        error_exit = [](j_common_ptr info) { std::longjmp(static_cast<Trouble*>(info->err)->back, 1); };
        // Warnings speak of damaged data, which is decoded as well as it can be.
        output_message = [](j_common_ptr) {};
        emit_message = [](j_common_ptr, int) {};
    }
};

// A file in memory. At its end it either asks to wait for more, which ends the decoding, or pretends that the picture ends there. As in
// TensorFlow, the latter first reads again what came after the place that the decoder kept last: a little noise behind the last pixels.
struct Source : jpeg_source_mgr {
    // A file that ends within a marker could be read again for ever.
    static constexpr int kPatience = 1 << 16;

    bool recovers;
    int repeats = 0;

    Source(const void* data, size_t size, bool recovers_) : recovers(recovers_) {
        next_input_byte = static_cast<const JOCTET*>(data);
        bytes_in_buffer = size;
        init_source = [](j_decompress_ptr) {};
        term_source = [](j_decompress_ptr) {};
        resync_to_restart = jpeg_resync_to_restart;
        fill_input_buffer = [](j_decompress_ptr info) -> boolean {
            static const JOCTET kEnd[] = {0xFF, JPEG_EOI};
            auto* source = static_cast<Source*>(info->src);
            if (!source->recovers) return FALSE;
            if (source->bytes_in_buffer && source->repeats++ < kPatience) return TRUE;
            source->next_input_byte = kEnd;
            source->bytes_in_buffer = sizeof kEnd;
            return TRUE;
        };
        skip_input_data = [](j_decompress_ptr info, long count) {
            if (count <= 0) return;
            const size_t most = std::min(static_cast<size_t>(count), info->src->bytes_in_buffer);
            info->src->next_input_byte += most;
            info->src->bytes_in_buffer -= most;
        };
    }
};

struct Options {
    int channels, ratio;
    bool interpolates_chroma, is_accurate;
    // Which part of the rows a file must hold at least.
    float least;
    std::optional<Window> window;
};

// Four inks on white paper. Files with Adobe's marker store how much light they leave, others how much they take.
void mix_inks(const uint8_t* inks, uint8_t* out, size_t count, bool stores_light) {
    const int turned = stores_light ? 0 : 255;
    for (size_t i = 0; i < count; ++i, inks += 4, out += 3) {
        const int black = inks[3] ^ turned;
        for (int c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>((inks[c] ^ turned) * black / 255);
    }
}

class Decoder {
public:
    Decoder(const void* data, size_t size, bool recovers) : source_(data, size, recovers) {
        info_.err = &trouble_;
        if (setjmp(trouble_.back)) return;
        jpeg_create_decompress(&info_);
        info_.src = &source_;
    }
    ~Decoder() {
        std::free(row_);
        jpeg_destroy_decompress(&info_);
    }
    Decoder(const Decoder&) = delete;

    bool read_header() {
        if (setjmp(trouble_.back)) return false;
        return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
    }

    // The pixels, which belong to the caller; nullptr where there are none to be had.
    uint8_t* decode(const Options& options) {
        found_ = nullptr;
        if (setjmp(trouble_.back)) {
            std::free(found_);
            return nullptr;
        }
        if (!start(options) || !read_rows(options.least)) {
            std::free(found_);
            return nullptr;
        }
        return found_;
    }

    int64_t height = 0, width = 0;
    int channels = 0;
    const jpeg_decompress_struct& info() const { return info_; }

private:
    bool start(const Options& options) {
        if (jpeg_read_header(&info_, TRUE) != JPEG_HEADER_OK) return false;
        channels = options.channels ? options.channels : std::min(info_.num_components, 3);
        const bool has_inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
        if (channels == 1) {
            info_.out_color_space = JCS_GRAYSCALE;
        } else if (channels == 3) {
            info_.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
        } else {
            return false;
        }
        info_.scale_num = 1;
        info_.scale_denom = options.ratio;
        info_.do_fancy_upsampling = options.interpolates_chroma;
        info_.dct_method = options.is_accurate ? JDCT_ISLOW : JDCT_IFAST;
        if (!jpeg_start_decompress(&info_)) return false;
        const int64_t tall = info_.output_height, wide = info_.output_width;
        if (tall * wide * channels >= kTooMany) return false;
        std::tie(top_, left_, height, width) = options.window.value_or(Window{0, 0, tall, wide});
        if (height <= 0 || width <= 0 || top_ < 0 || left_ < 0 || height > tall - top_ || width > wide - left_) return false;
        if (left_ || width != wide) {
            // The library keeps whole blocks: what it gives may begin left of the window.
            JDIMENSION kept_left = static_cast<JDIMENSION>(left_), kept_width = static_cast<JDIMENSION>(width);
            jpeg_crop_scanline(&info_, &kept_left, &kept_width);
            left_ -= kept_left;
        }
        const size_t size = static_cast<size_t>(height * width * channels);
        found_ = static_cast<uint8_t*>(std::malloc(size));
        const bool is_direct = info_.output_width == static_cast<JDIMENSION>(width) && info_.output_components == channels;
        if (!is_direct) row_ = static_cast<uint8_t*>(std::malloc(size_t{info_.output_width} * info_.output_components));
        return found_ != nullptr && (is_direct || row_ != nullptr);
    }

    bool read_rows(float least) {
        if (top_) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(top_));
        const size_t stride = static_cast<size_t>(width) * channels;
        int64_t done = 0;
        while (done < height) {
            uint8_t* to = found_ + done * stride;
            JSAMPROW row = row_ ? row_ : to;
            if (!jpeg_read_scanlines(&info_, &row, 1)) break;
            if (row_) {
                const uint8_t* from = row_ + left_ * info_.output_components;
                if (info_.out_color_space == JCS_CMYK) {
                    mix_inks(from, to, static_cast<size_t>(width), info_.saw_Adobe_marker);
                } else {
                    std::memcpy(to, from, stride);
                }
            }
            ++done;
        }
        if (done < height) {
            if (static_cast<float>(done) < static_cast<float>(height) * least) return false;
            std::memset(found_ + done * stride, 0, static_cast<size_t>(height - done) * stride);
        } else if (info_.output_scanline == info_.output_height) {
            // What stands behind the pixels must be in order too, where the window reaches down to there.
            return jpeg_finish_decompress(&info_);
        }
        return true;
    }

    Trouble trouble_;
    Source source_;
    jpeg_decompress_struct info_{};
    uint8_t *found_ = nullptr, *row_ = nullptr;
    int64_t top_ = 0, left_ = 0;
};

using Pixels = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>, nb::c_contig>;

Pixels decode_jpeg(nb::bytes contents, int channels, int ratio, bool interpolates_chroma, bool recovers, float least, bool is_accurate,
                   std::optional<Window> window) {
    uint8_t* found;
    size_t shape[3];
    {
        nb::gil_scoped_release unlocked;
        Decoder decoder(contents.data(), contents.size(), recovers);
        found = decoder.decode({channels, ratio, interpolates_chroma, is_accurate, least, window});
        shape[0] = static_cast<size_t>(decoder.height);
        shape[1] = static_cast<size_t>(decoder.width);
        shape[2] = static_cast<size_t>(decoder.channels);
    }
    if (found == nullptr) throw nb::value_error("no JPEG file, or nothing inside the window");
    return Pixels(found, 3, shape, nb::capsule(found, [](void* memory) noexcept { std::free(memory); }));
}

std::tuple<int64_t, int64_t, int> jpeg_shape(nb::bytes contents) {
    Decoder decoder(contents.data(), contents.size(), false);
    if (!decoder.read_header()) throw nb::value_error("no JPEG file");
    return {decoder.info().image_height, decoder.info().image_width, decoder.info().num_components};
}

struct Density {
    int unit, across, down;
};

struct EncodeOptions {
    int quality;
    bool is_progressive, is_optimized, halves_chroma;
    Density density;
    const void* extra;
    size_t extra_size;
};

// Writes a file into memory that belongs to the caller; false where the library refuses.
bool write(const uint8_t* pixels, size_t height, size_t width, size_t channels, const EncodeOptions& options, uint8_t** file,
           unsigned long* size) {
    Trouble trouble;
    jpeg_compress_struct info{};
    info.err = &trouble;
    if (setjmp(trouble.back)) {
        jpeg_destroy_compress(&info);
        return false;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, file, size);
    info.image_height = static_cast<JDIMENSION>(height);
    info.image_width = static_cast<JDIMENSION>(width);
    info.input_components = static_cast<int>(channels);
    info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    info.optimize_coding = options.is_optimized;
    info.density_unit = static_cast<UINT8>(options.density.unit);
    info.X_density = static_cast<UINT16>(options.density.across);
    info.Y_density = static_cast<UINT16>(options.density.down);
    jpeg_set_quality(&info, options.quality, TRUE);
    if (options.is_progressive) jpeg_simple_progression(&info);
    if (!options.halves_chroma) {
        for (int i = 0; i < info.num_components; ++i) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
    }
    jpeg_start_compress(&info, TRUE);
    if (options.extra_size) {
        jpeg_write_marker(&info, JPEG_APP0 + 1, static_cast<const JOCTET*>(options.extra), static_cast<unsigned>(options.extra_size));
    }
    const size_t stride = width * channels;
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(pixels + info.next_scanline * stride);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return true;
}

nb::bytes encode_jpeg(nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> pixels, int quality, bool is_progressive,
                      bool is_optimized, bool halves_chroma, std::tuple<int, int, int> density, nb::bytes extra) {
    const auto [unit, across, down] = density;
    const size_t height = pixels.shape(0), width = pixels.shape(1), channels = pixels.shape(2);
    if (channels != 1 && channels != 3) throw nb::value_error("a JPEG file has one or three channels");
    uint8_t* file = nullptr;
    unsigned long size = 0;
    bool is_done;
    {
        nb::gil_scoped_release unlocked;
        is_done = write(pixels.data(), height, width, channels,
                        {quality, is_progressive, is_optimized, halves_chroma, {unit, across, down}, extra.data(), extra.size()}, &file,
                        &size);
    }
    const Bytes owned(file);
    if (!is_done) throw nb::value_error("the picture can't be written as a JPEG file");
    return nb::bytes(reinterpret_cast<const char*>(file), size);
}

}  // namespace

void add_jpeg(nb::module_& module) {
    module.def("decode_jpeg", decode_jpeg, nb::arg("contents"), nb::arg("channels"), nb::arg("ratio"), nb::arg("interpolates_chroma"),
               nb::arg("recovers"), nb::arg("least"), nb::arg("is_accurate"), nb::arg("window").none());
    module.def("jpeg_shape", jpeg_shape, nb::arg("contents"));
    module.def("encode_jpeg", encode_jpeg, nb::arg("pixels"), nb::arg("quality"), nb::arg("is_progressive"), nb::arg("is_optimized"),
               nb::arg("halves_chroma"), nb::arg("density"), nb::arg("extra"));
}

}  // namespace everflow

#else

namespace everflow {

void add_jpeg(nanobind::module_&) {}

}  // namespace everflow

#endif
