# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat gap`: how right the gaps between frames are on a real link (docs/how-to/measure-gaps.md)."""
