// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether any process still has a socket open. An epoll instance watches its file without keeping it open.
#pragma once

#include <fstream>
#include <string>

#include <sys/epoll.h>

#include "file.h"

namespace downbeat {

class Presence {
public:
  explicit Presence(const File &socket) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event nothing{};
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &nothing);
  }

  bool isOpen() const {
    std::ifstream file("/proc/self/fdinfo/" + std::to_string(epoll_.get()));
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("tfd:")) return true;
    return false;
  }

private:
  File epoll_;
};

} // namespace downbeat
