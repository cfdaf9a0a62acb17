// SPDX-License-Identifier: BSD-2-Clause-Patent
// A placed design as nextpnr-ecp5 writes it (`--write`): cells, the nets between them, and where each cell is.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// A tile, as nextpnr counts them.
struct Place {
  std::int16_t x = 0, y = 0;
  bool operator==(const Place &) const = default;
};

inline int distance(Place one, Place other) { return std::abs(one.x - other.x) + std::abs(one.y - other.y); }

struct Pin {
  std::string port;
  int net;
  bool drives;

  /// Clocks, carries, and what stays within a place have ways of their own.
  bool hasWire() const;
};

struct Cell {
  std::string name, kind;
  std::string site; // within its place, "SLICEA.K0"
  std::vector<Pin> pins; // that are connected
  nlohmann::ordered_json *written;

  bool is(std::string_view other) const { return kind == other; }
  /// The net at a port, or -1.
  int net(std::string_view port) const;
  /// Without the spaces that mark a word of digits as text; empty if there is none.
  std::string parameter(std::string_view name) const;
};

/// Only the attributes that say where cells are ever change, and nextpnr's settings.
class Design {
public:
  explicit Design(const std::filesystem::path &path);
  void write(const std::filesystem::path &path);
  void set(const std::string &setting, const std::string &value);
  /// The net's number; refused where there is none of that name.
  int named(const std::string &net) const;

  std::vector<Cell> cells;
  std::vector<Place> places; // by cell: apart, since moves look at little else
  int nets = 0; // each has a number below

private:
  nlohmann::ordered_json json_;
  nlohmann::ordered_json *module_ = nullptr;
};
