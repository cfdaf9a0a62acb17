// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.messages.TcpOptions
import downbeat.wire.SequenceNumber
import spinal.core._
import spinal.lib._

/** Reads the values of the TCP options that the walker finds. If an option comes twice, the last one counts.
  *
  * Timestamps and SACK blocks are values of eight bytes that begin anywhere. Two values never overlap, so at most one
  * ends in any window: it is cut out of that window and the one before. The values of a SACK option end at the same
  * byte of successive windows, until the next option begins.
  */
case class OptionReader(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val windows = slave Flow (WalkedWindow())
    /** The segment's, until a clock after its last window. */
    val acknowledgment = in(SequenceNumber())
    /** MSS, window scale and SACK-permitted one clock after their window, the rest three; until the next list of TCP
      * options begins.
      */
    val options = out(TcpOptions(config))
  }
  noIoPrefix()

  /** No smaller MSS is believed, bytes. RFC 9293 sets no floor; without one a peer could have its data in segments of a
    * byte, all headers and work (CVE-2019-11479).
    */
  private val smallestMss = 64
  /** RFC 7323 2.3: a larger shift is taken as this one. */
  private val largestWindowScale = 14

  private val window = io.windows.payload
  private val passes = io.windows.valid && window.tcp
  private val restarts = passes && window.first
  private def begun(kind: Bits): Bits = window.begins & kind

  // ---- the contents of the window
  private val mss = Reg(UInt(16 bits))
  private val windowScale = Reg(UInt(8 bits))
  private val mssValid, windowScaleValid, sackPermitted, timestampValid = Reg(Bool())
  when(restarts) {
    mssValid := False
    windowScaleValid := False
    sackPermitted := False
    timestampValid := False
  }
  when(passes) {
    for (i <- 0 until 8) {
      when(begun(window.known.mss)(i)) {
        mssValid := True
        mss := (window.bytes(i + 2) ## window.bytes(i + 3)).asUInt
      }
      when(begun(window.known.windowScale)(i)) {
        windowScaleValid := True
        windowScale := window.bytes(i + 2).asUInt
      }
    }
    sackPermitted setWhen begun(window.known.sackPermitted).orR
  }

  // ---- values of eight bytes: the byte of a window in which they end, and whether the next window is too early for
  // the first one
  private val timestampBegins = begun(window.known.timestamp)
  private val sackBegins = begun(window.known.sack)
  private val starts = timestampBegins | sackBegins
  private val active, early, awaitsFirst, isSack = Reg(Bool())
  private val endsAt = Reg(UInt(3 bits))
  private val continues = active && !window.first
  when(passes) {
    // The option is over where another one begins.
    active := starts.orR || (continues && !window.begins.orR)
    early := starts(7)
    awaitsFirst := starts.orR || (awaitsFirst && early)
    when(starts.orR) {
      isSack := sackBegins.orR
      endsAt := OHToUInt(starts.rotateLeft(1))
    }
  }

  private val earlier = RegNextWhen(Vec(window.bytes.slice(1, 8)), passes)
  private val both = earlier ++ window.bytes.take(8)
  private val ends = passes && continues && !early && !window.begins(0)
  private val value = RegNext(Vec((0 until 8).map(end => Cat(both.slice(end, end + 8).reverse)))(endsAt))
  private val valueIsSack = RegNext(ends && isSack) init False
  private val valueIsTimestamp = RegNext(ends && !isSack) init False
  private val valueIsFirst = RegNext(awaitsFirst)

  private val timestamp = RegNextWhen(value, valueIsTimestamp)
  timestampValid setWhen valueIsTimestamp

  private val sack = SackReader(config)
  sack.io.restart := restarts
  sack.io.blocks.valid := valueIsSack
  sack.io.blocks.left := value(63 downto 32).asUInt
  sack.io.blocks.right := value(31 downto 0).asUInt
  sack.io.blocks.first := valueIsFirst
  sack.io.acknowledgment := io.acknowledgment

  io.options.mssValid := mssValid
  io.options.mss := (mss < smallestMss) ? U(smallestMss) | mss
  io.options.windowScaleValid := windowScaleValid
  io.options.windowScale := (windowScale < largestWindowScale) ? windowScale.resize(4) | U(largestWindowScale)
  io.options.sackPermitted := sackPermitted
  io.options.timestampValid := timestampValid
  io.options.timestampValue := timestamp(63 downto 32).asUInt
  io.options.timestampEcho := timestamp(31 downto 0).asUInt
  io.options.sack := sack.io.sack
  io.options.duplicateSack := sack.io.duplicate
}
