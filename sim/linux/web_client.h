// SPDX-License-Identifier: BSD-2-Clause-Patent
// Fetches one page by HTTP/1.1, several times, on several connections at once, and keeps the bodies.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "application.h"
#include "options.h"

class WebClient : public Application {
public:
  /// GETs `options.fetch` from `options.peerIp`, `options.requests` times on each of `options.connections` connections,
  /// and writes the bodies, each whole, one after the other to `options.receive`.
  WebClient(downbeat_device *device, const Options &options);

protected:
  void advance() override;

private:
  struct Visit {
    downbeat_sim_connection connection;
    std::uint64_t left; // requests to come
    std::string request, response;
    std::size_t position = 0; // in the request
    bool over = false;
  };
  /// True once the visit is over and closed.
  bool proceed(Visit &visit);
  /// Keeps the body if the response is whole, or says what is wrong with it.
  bool keep(Visit &visit);

  std::string path_; // path of the page
  std::ofstream file_;
  std::vector<Visit> visits_;
};
