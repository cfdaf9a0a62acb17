// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "model.h"

#include <cstdlib>

#include <dlfcn.h>

#include "failure.h"
#include "formatted.h"

namespace downbeat {

void Model::Close::operator()(void *library) const { dlclose(library); }

Model::Model(const std::string &preset, std::uint64_t linkRate) {
  const std::string name = "libdownbeat_host_" + preset + ".so";
  const char *directory = std::getenv("DOWNBEAT_MODELS");
  const std::string path = preset.find('/') != std::string::npos ? preset
                           : directory != nullptr                ? std::string(directory) + "/" + name
                                                                 : name;
  library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library_ == nullptr)
    throw Failure(DOWNBEAT_UNKNOWN_PRESET, "no simulated device '" + preset + "' (" + dlerror() + "): make driver" +
                                               (preset == "nic" ? "" : " PRESET=" + preset) +
                                               ", or set DOWNBEAT_MODELS to its directory");
  const auto get = reinterpret_cast<decltype(&downbeat_model_get)>(dlsym(library_.get(), "downbeat_model_get"));
  calls_ = get != nullptr ? get() : nullptr;
  if (calls_ == nullptr || calls_->abi != DOWNBEAT_MODEL_ABI)
    throw Failure(DOWNBEAT_WRONG_VERSION,
                  path + " has model interface " + std::to_string(calls_ != nullptr ? calls_->abi : 0) +
                      ", this libdownbeat " + std::to_string(DOWNBEAT_MODEL_ABI) + ": build both from one release");
  model_ = {calls_->create(linkRate), Destroy{calls_}};
  if (model_ == nullptr) throw Failure(DOWNBEAT_OUT_OF_RESOURCES, path + " makes no device: not enough memory");
}

std::uint32_t Model::read(std::uint32_t address) {
  std::uint32_t value = 0;
  if (calls_->read(model_.get(), address, &value) == 0) return value;
  throw Failure(DOWNBEAT_NO_DEVICE, formatted("the bus answers a read of register 0x%04x with an error", address));
}

} // namespace downbeat
