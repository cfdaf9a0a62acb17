// SPDX-License-Identifier: BSD-2-Clause-Patent
// The smallest web server that curl and browsers accept: HTTP/1.0, one file for every GET, one request a connection.
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "application.h"
#include "options.h"

class WebServer : public Application {
public:
  /// Serves `options.serve` on `options.port` until `options.requests` have been served.
  WebServer(downbeat_device *device, const Options &options);

protected:
  void advance() override;

private:
  struct Visit {
    downbeat_sim_connection connection;
    std::string request, response;
    std::size_t position = 0; // in the response
    bool shutDown = false;
  };
  /// False once the visit is over.
  bool serve(Visit &visit);
  std::string respond(const std::string &request) const;

  std::uint16_t port_;
  std::uint64_t left_; // requests
  std::string page_;
  std::list<Visit> visits_;
};
