# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CUBIC's window (RFC 9438 4.1 to 4.4), as rtl/downbeat/calculation/CubicGrowth.scala.

Time is in ticks of 1,024 ns. With d = t - K, W_cubic(t) = C d^3 + W_max segments. Either request brings cwnd and W_max;
`root` is a request for K, the other for the growth by some acknowledged bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from sim.golden.congestion.packed_fields import PackedFields

TICK = 1024e-9  # s
C = 0.4
WINDOW_BITS, BYTE_BITS, T_MINUS_K_BITS, W_EST_INCREASE_BITS = 46, 30, 31, 30
MAX_ACKED = (1 << 18) - 1  # bytes, in one request
# C tick^3, and its inverse / 2^12: for a segment, and ticks of 16.
CUBE_SHIFT = 20  # d d and d d d lose so many bits
TERM_SHIFT = 29
TERM: int = round(C * TICK**3 * 2 ** (2 * CUBE_SHIFT + 16 + TERM_SHIFT))  # 24 bits
ROOT_TICKS = 4  # K is a multiple of 2^4 ticks
INVERSE: int = round(1 / (C * TICK**3 * 2 ** (3 * ROOT_TICKS)))  # 50 bits
ROOT_BITS = 25
MAX_CUBE = (1 << 3 * ROOT_BITS) - 1
ALPHA_SHIFT = 16
ALPHA: int = round(9 / 17 * 2**ALPHA_SHIFT)  # 3 (1 - beta) / (1 + beta), beta = 0.7


@dataclass(frozen=True)
class Request(PackedFields):
    root: int  # a request for K
    reno: int  # alpha is 1: W_est has reached the window before the loss
    segment_size: int
    acked: int = 0  # bytes
    round_trip: int = 0  # ticks
    t_minus_k: int = 0  # ticks, may be negative
    w_max: int = 0  # bytes
    cwnd: int = 0  # bytes with 16 fraction bits, as the next
    w_est: int = 0

    FIELDS = (
        ("root", 1),
        ("reno", 1),
        ("segment_size", 16),
        ("acked", 18),
        ("round_trip", 26),
        ("t_minus_k", T_MINUS_K_BITS),
        ("w_max", BYTE_BITS),
        ("cwnd", WINDOW_BITS),
        ("w_est", WINDOW_BITS),
    )

    @classmethod
    def unpacked(cls, word: int) -> Self:
        """t - K has a sign."""
        request = super().unpacked(word)
        negative = request.t_minus_k >> T_MINUS_K_BITS - 1
        return replace(request, t_minus_k=request.t_minus_k - (negative << T_MINUS_K_BITS))


@dataclass(frozen=True)
class Growth(PackedFields):
    """Bytes with 16 fraction bits."""

    increase: int  # growth of cwnd
    w_est_increase: int  # growth of W_est
    friendly: int  # W_cubic(t) < W_est, as it is then: the Reno-friendly region

    FIELDS = (("increase", 33), ("w_est_increase", W_EST_INCREASE_BITS), ("friendly", 1))


def cube_root(value: int) -> int:
    """Rounded down."""
    root = 0
    for bit in range(ROOT_BITS - 1, -1, -1):
        if (root + (1 << bit)) ** 3 <= value:
            root += 1 << bit
    return root


def epoch_root(request: Request) -> int:
    """K in ticks: the cube root of (W_max - cwnd) / C segments."""
    below = max(request.w_max - (request.cwnd >> 16), 0)
    cube = min(below * INVERSE // request.segment_size, MAX_CUBE)
    return cube_root(cube) << ROOT_TICKS


def cubic(request: Request, t_minus_k: int) -> int:
    """W_cubic, bytes with 16 fraction bits, that far from K; not below zero nor beyond 1 GiB."""
    far = min(abs(t_minus_k), (1 << BYTE_BITS) - 1)
    cube = (far * far >> CUBE_SHIFT) * far >> CUBE_SHIFT
    term = cube * (TERM * request.segment_size) >> TERM_SHIFT
    window = (request.w_max << 16) + (-term if t_minus_k < 0 else term)
    return min(max(window, 0), (1 << WINDOW_BITS) - 1)


def grow(request: Request) -> Growth:
    """By so many acknowledged bytes, a window's worth at most."""
    now = cubic(request, request.t_minus_k)
    ahead = cubic(request, request.t_minus_k + request.round_trip)
    target = min(max(ahead, request.cwnd), request.cwnd + (request.cwnd >> 1))
    acked = min(request.acked, request.cwnd >> 16)
    increase = ((target - request.cwnd) * acked << 16) // request.cwnd
    alpha = 1 << ALPHA_SHIFT if request.reno else ALPHA
    w_est_increase = (alpha * request.segment_size * acked << 16) // request.cwnd & (1 << W_EST_INCREASE_BITS) - 1
    return Growth(increase, w_est_increase, int(now < request.w_est + w_est_increase))


@dataclass(frozen=True)
class CubicGrowth:
    name: str = "cubicgrowth"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        def response(word: int) -> int:
            request = Request.unpacked(word)
            return epoch_root(request) if request.root else grow(request).packed()

        return response


CALCULATOR = CubicGrowth()
