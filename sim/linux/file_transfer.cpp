// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "file_transfer.h"

#include <array>
#include <iterator>

FileTransfer::FileTransfer(downbeat_device *device, const Options &options) : device_(device) {
  if (options.send.empty()) {
    listening_ = options.port;
    file_.open(options.receive, std::ios::binary);
    if (!file_) failure_ = "cannot write " + options.receive;
    check(downbeat_listen(device_, options.port, nullptr), "listen");
    return;
  }
  std::ifstream file(options.send, std::ios::binary);
  contents_.assign(std::istreambuf_iterator<char>(file), {});
  if (contents_.empty()) failure_ = "cannot read " + options.send + ", or it is empty";
  check(downbeat_connect(device_, options.peerIp, options.port, 0, nullptr, &connection_), "connect");
}

void FileTransfer::step() {
  if (finished_ || !failure_.empty()) return;
  if (connection_ == 0 && downbeat_accept(device_, listening_, &connection_) != DOWNBEAT_OK) return;
  downbeat_info info;
  if (!check(downbeat_connection_info(device_, connection_, &info), "connection") || !check(info.error, "connection")) return;
  if (listening_ != 0)
    receiveFile(info);
  else
    sendFile(info);
}

void FileTransfer::sendFile(const downbeat_info &info) {
  while (bytes_ < contents_.size()) {
    const std::int64_t count = downbeat_send(device_, connection_, contents_.data() + bytes_, contents_.size() - bytes_);
    if (count == DOWNBEAT_WOULD_BLOCK || !check(count, "send")) return;
    bytes_ += static_cast<std::uint64_t>(count);
  }
  if (!shutDown_) shutDown_ = check(downbeat_shutdown(device_, connection_), "shutdown");
  finished_ = info.peer_finished && (info.state == DOWNBEAT_TIME_WAIT || info.state == DOWNBEAT_CLOSED);
}

void FileTransfer::receiveFile(const downbeat_info &info) {
  std::array<std::uint8_t, 16384> buffer;
  while (!shutDown_) {
    const std::int64_t count = downbeat_receive(device_, connection_, buffer.data(), buffer.size());
    if (count == DOWNBEAT_WOULD_BLOCK || !check(count, "receive")) return;
    file_.write(reinterpret_cast<const char *>(buffer.data()), count);
    bytes_ += static_cast<std::uint64_t>(count);
    if (count == 0) shutDown_ = check(downbeat_shutdown(device_, connection_), "shutdown");
  }
  file_.flush();
  finished_ = info.state == DOWNBEAT_CLOSED;
}

bool FileTransfer::info(downbeat_info &info) const {
  return connection_ != 0 && downbeat_connection_info(device_, connection_, &info) == DOWNBEAT_OK;
}

bool FileTransfer::check(std::int64_t result, const char *what) {
  if (result >= 0) return true;
  failure_ = std::string(what) + ": " + downbeat_error_text(static_cast<int>(result));
  return false;
}
