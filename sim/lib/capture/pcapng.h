// SPDX-License-Identifier: BSD-2-Clause-Patent
// A capture file (pcapng, draft-ietf-opsawg-pcapng): several interfaces, nanoseconds, the direction of each packet.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// Packets come in any order of their times; they are written in order, as far as `settle` says that nothing earlier
/// will come.
class Pcapng {
public:
  enum class Link : std::uint16_t { ethernet = 1, ppp = 9 };
  enum class Direction : std::uint32_t { in = 1, out = 2 };

  /// `comment` says what a reader must know of times and bytes.
  Pcapng(const std::string &path, std::string_view application, std::string_view comment)
      : file_(path, std::ios::binary) {
    Block block(sectionHeader);
    block.add(std::uint32_t{0x1a2b3c4d})
        .add(std::uint16_t{1})
        .add(std::uint16_t{0})
        .add(std::uint64_t{UINT64_MAX}); // length unknown
    block.option(optionComment, comment).option(sectionApplication, application).end();
    block.write(file_);
  }
  ~Pcapng() { settle(UINT64_MAX); }
  Pcapng(const Pcapng &) = delete;
  Pcapng &operator=(const Pcapng &) = delete;

  explicit operator bool() const { return file_.good(); }

  /// All interfaces come before the first packet. Its number.
  std::uint32_t interface(Link link, std::string_view name, std::string_view description, std::uint64_t bitsPerSecond) {
    Block block(interfaceDescription);
    block.add(static_cast<std::uint16_t>(link))
        .add(std::uint16_t{0})
        .add(std::uint32_t{0}); // no limit of a packet's bytes
    block.option(interfaceName, name).option(interfaceDescriptionText, description);
    block.option(interfaceSpeed, {reinterpret_cast<const char *>(&bitsPerSecond), sizeof bitsPerSecond});
    block.option(interfaceResolution, "\x09").option(interfaceFcsLength, std::string_view("\0", 1)).end();
    block.write(file_);
    return interfaces_++;
  }

  void packet(std::uint32_t interface, Direction direction, std::uint64_t nanoseconds,
              std::span<const std::uint8_t> bytes) {
    Block block(enhancedPacket);
    const auto length = static_cast<std::uint32_t>(bytes.size());
    block.add(interface)
        .add(static_cast<std::uint32_t>(nanoseconds >> 32))
        .add(static_cast<std::uint32_t>(nanoseconds));
    block.add(length).add(length).bytes({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    const auto flags = static_cast<std::uint32_t>(direction);
    block.option(packetFlags, {reinterpret_cast<const char *>(&flags), sizeof flags}).end();
    waiting_.emplace(nanoseconds, std::move(block));
  }

  /// Nothing before this time will come.
  void settle(std::uint64_t nanoseconds) {
    const auto end = waiting_.lower_bound(nanoseconds);
    for (auto packet = waiting_.begin(); packet != end; ++packet) packet->second.write(file_);
    waiting_.erase(waiting_.begin(), end);
  }

private:
  /// Types and codes of the draft, sections 3.5 and 4.
  static constexpr std::uint32_t sectionHeader = 0x0a0d0d0a, interfaceDescription = 1, enhancedPacket = 6;
  static constexpr std::uint16_t optionEnd = 0, optionComment = 1, sectionApplication = 4;
  static constexpr std::uint16_t interfaceName = 2, interfaceDescriptionText = 3, interfaceSpeed = 8,
                                 interfaceResolution = 9, interfaceFcsLength = 13;
  static constexpr std::uint16_t packetFlags = 2;

  /// In the machine's byte order, which the section header's magic tells.
  class Block {
  public:
    explicit Block(std::uint32_t type) { add(type).add(std::uint32_t{0}); }

    template <typename Number> Block &add(Number number) {
      bytes_.append(reinterpret_cast<const char *>(&number), sizeof number);
      return *this;
    }
    /// Padded to whole words.
    Block &bytes(std::string_view bytes) {
      bytes_.append(bytes);
      bytes_.resize((bytes_.size() + 3) / 4 * 4);
      return *this;
    }
    Block &option(std::uint16_t code, std::string_view value) {
      return add(code).add(static_cast<std::uint16_t>(value.size())).bytes(value);
    }
    void end() {
      add(std::uint32_t{optionEnd});
      const auto length = static_cast<std::uint32_t>(bytes_.size() + sizeof(std::uint32_t));
      add(length);
      std::memcpy(bytes_.data() + sizeof(std::uint32_t), &length, sizeof length);
    }
    void write(std::ofstream &file) const { file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size())); }

  private:
    std::string bytes_;
  };

  std::ofstream file_;
  std::uint32_t interfaces_ = 0;
  std::multimap<std::uint64_t, Block> waiting_;
};
