#pragma once

// Layers, each in its own header.
#include <ricci/nn/attention.hpp>
#include <ricci/nn/dropout.hpp>
#include <ricci/nn/embedding.hpp>
#include <ricci/nn/gelu_mlp.hpp>
#include <ricci/nn/initialize.hpp>
#include <ricci/nn/layer_norm.hpp>
#include <ricci/nn/linear.hpp>
#include <ricci/nn/rms_norm.hpp>
