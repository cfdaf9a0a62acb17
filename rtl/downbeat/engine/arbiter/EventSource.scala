// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.arbiter

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** One source of events.
  *
  * @param words   its own words, waiting for their turn
  * @param event   makes an event of such a word
  * @param returns its events may send a segment, so the arbiter keeps a place for a return free
  */
case class EventSource(words: Stream[Bits], event: Bits => FilledEvent, returns: Boolean = true) {
  /** The source behind a register for valid and payload and one for ready. No path leads from the arbiter through it.
    * It passes a word every two clocks.
    */
  def registered: EventSource = copy(words = words.halfPipe())
}

object EventSource {
  /** Two sources that take turns at one place of the arbiter, registered. What only the longer word has needs no
    * choice: the other's events do not look at it.
    */
  def shared(config: DownbeatConfig, first: EventSource, second: EventSource): EventSource = {
    val Seq(shorter, longer) = Seq(first, second).sortBy(source => widthOf(source.words.payload))
    val bits = widthOf(shorter.words.payload)
    def marked(source: EventSource, mark: Bool): Stream[Bits] = source.words.map(word => mark ## word.resize(bits))
    def word(source: EventSource, shared: Bits): FilledEvent =
      source.event(shared.resize(widthOf(source.words.payload)))
    EventSource(
      StreamArbiterFactory().roundRobin.transactionLock.onArgs(marked(first, False), marked(second, True)).map(chosen =>
        chosen.msb ## longer.words.payload.dropLow(bits) ## chosen.resize(bits)),
      shared =>
        FilledEvent.chosen(config,
          Seq(!shared.msb -> word(first, shared), shared.msb -> word(second, shared))),
      first.returns || second.returns).registered
  }
}
