// SPDX-License-Identifier: Apache-2.0
// raggedgemm: ragged (grouped) matrix multiplication on CPUs, NVIDIA and AMD GPUs.
// This is the one header that users include.
#pragma once

#include "raggedgemm/epilogue/activation.hpp"
#include "raggedgemm/epilogue/bias.hpp"
#include "raggedgemm/epilogue/transform.hpp"
#include "raggedgemm/ragged_dot.hpp"
#include "raggedgemm/version.hpp"
