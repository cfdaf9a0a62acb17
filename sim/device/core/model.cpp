// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "model.h"

namespace downbeat {

#if VM_TRACE_FST

bool Model::startWaves(const std::string &path) {
  endWaves();
  context_.traceEverOn(true);
  waves_ = std::make_unique<VerilatedFstC>();
  waves_->set_time_unit("1ns");
  waves_->set_time_resolution("1ns");
  top_->trace(waves_.get(), 99);
  waves_->open(path.c_str());
  return waves_->isOpen();
}

void Model::endWaves() {
  if (waves_) waves_->close();
  waves_.reset();
}

#else

bool Model::startWaves(const std::string &) { return false; }
void Model::endWaves() {}

#endif

} // namespace downbeat
