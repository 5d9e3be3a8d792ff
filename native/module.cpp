// The extension module everflow._native: each topic of the folder adds its functions here.
#include "array_slots.h"
#include "custom_ops.h"
#include "images.h"
#include "fused.h"
#include "grpc.h"
#include "learning.h"
#include "processor.h"
#include "random.h"
#include "records.h"
#include "sounds.h"
#include "text.h"
#include "turns.h"

NB_MODULE(_native, module) {
    // At a program\'s end what is left is the system\'s to free.
    nanobind::set_leak_warnings(false);
    module.doc() = "What must run per element and neither torch nor numpy does.";
    everflow::add_processor(module);
    everflow::add_turns(module);
    everflow::add_denormals(module);
    everflow::add_array_slots(module);
    everflow::add_batch_norm(module);
    everflow::add_convolution(module);
    everflow::add_custom_ops(module);
    everflow::add_elementwise(module);
    everflow::add_halving(module);
    everflow::add_row_loops(module);
    everflow::add_row_losses(module);
    everflow::add_matrix_products(module);
    everflow::add_pooling(module);
    everflow::add_products(module);
    everflow::add_window_products(module);
    everflow::add_winograd(module);
    everflow::add_sparse_products(module);
    everflow::add_sparse_rows(module);
    everflow::add_transposing(module);
    everflow::add_ranking(module);
    everflow::add_random_fills(module);
    everflow::add_random_samplers(module);
    everflow::add_hashes(module);
    everflow::add_numbers(module);
    everflow::add_csv(module);
    everflow::add_examples(module);
    everflow::add_sequence_examples(module);
    everflow::add_records(module);
    everflow::add_graphs(module);
    everflow::add_grpc(module);
    everflow::add_images(module);
    everflow::add_jpeg(module);
    everflow::add_micro_frontend(module);
    everflow::add_summaries(module);
    everflow::add_sdca(module);
    everflow::add_trees(module);
    everflow::add_forest(module);
    everflow::add_quantiles(module);
    everflow::add_gradient_trees(module);
}
