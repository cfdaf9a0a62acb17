// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.LocalAddresses
import spinal.core._
import spinal.lib._

/** A word of a frame's headers, first byte lowest; zero beyond their end and where the TCP checksum belongs. */
case class HeaderWord(bytes: Int = 8) extends Bundle {
  val data = Bits(8 * bytes bits)
  /** The word in which the headers end. */
  val last = Bool()
}

/** Serialises headers, one word a clock, while the builder still adds them up. The wide registers stay in the builder.
  *
  * It reads word i from `header` i clocks after `starts`; the word is in `words` a clock later. Nothing stalls it.
  */
case class HeaderSerialiser(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val starts = in Bool ()
    val header = in(SegmentHeader(config))
    val local = in(LocalAddresses())
    val words = master(Flow(HeaderWord()))
    /** Words are left to read after this clock. */
    val busy = out Bool ()
  }
  noIoPrefix()

  private val words = io.header.words(io.local)
  private val position = Reg(UInt(log2Up(words.size) bits)) init 0
  private val reading = RegInit(False) // a word other than the first
  private val reads = io.starts || reading
  private val last =
    RegNext(reads && position + 1 === io.header.lastWord) init False // known a clock ahead: there are several words

  when(reads) {
    reading := !last
    position := last ? U(0) | position + 1
  }

  private val word = HeaderWord()
  word.data := words.head
  switch(position) {
    for ((bytes, index) <- words.zipWithIndex.tail) is(index)(word.data := bytes)
  }
  word.last := last
  io.words.valid := RegNext(reads, False)
  io.words.payload := RegNextWhen(word, reads)
  io.busy := io.starts || reading && !last
}
