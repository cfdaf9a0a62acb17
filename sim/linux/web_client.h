// SPDX-License-Identifier: BSD-2-Clause-Patent
// Fetches one page by HTTP/1.0 and keeps its body.
#pragma once

#include <cstdint>
#include <string>

#include "application.h"
#include "options.h"

class WebClient : public Application {
public:
  /// GETs `options.fetch` from `options.peerIp` and writes its body to `options.receive`.
  WebClient(downbeat_device *device, const Options &options);

protected:
  void advance() override;

private:
  void keep();

  std::string path_; // of the file to write
  std::string request_, answer_;
  std::size_t position_ = 0;
  bool kept_ = false;
};
