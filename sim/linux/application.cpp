// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "application.h"

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

void Application::step() {
  if (!finished_ && failure_.empty()) advance();
}

bool Application::info(downbeat_sim_info &info) const {
  return shown_ != 0 && downbeat_sim_connection_info(device_, shown_, &info) == DOWNBEAT_OK;
}

nlohmann::json Application::details() const { return nullptr; }

bool Application::check(std::int64_t result, const char *what) {
  if (result >= 0) return true;
  failure_ = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
  return false;
}

bool Application::send(downbeat_sim_connection connection, const std::string &contents, std::size_t &position) {
  while (position < contents.size()) {
    const auto *data = reinterpret_cast<const std::uint8_t *>(contents.data());
    const std::int64_t count = downbeat_sim_send(device_, connection, data + position, contents.size() - position);
    if (count == DOWNBEAT_WOULD_BLOCK || !check(count, "send")) return false;
    position += static_cast<std::size_t>(count);
    bytes_ += static_cast<std::uint64_t>(count);
  }
  return true;
}

bool Application::receive(downbeat_sim_connection connection, std::string &contents) {
  std::array<std::uint8_t, 16384> buffer;
  while (true) {
    const std::int64_t count = downbeat_sim_receive(device_, connection, buffer.data(), buffer.size());
    if (count == DOWNBEAT_WOULD_BLOCK || !check(count, "receive")) return false;
    if (count == 0) return true;
    contents.append(reinterpret_cast<const char *>(buffer.data()), static_cast<std::size_t>(count));
    bytes_ += static_cast<std::uint64_t>(count);
  }
}

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string contents(std::istreambuf_iterator<char>(file), {});
  if (contents.empty()) throw std::runtime_error("cannot read " + path + ", or it is empty");
  return contents;
}
