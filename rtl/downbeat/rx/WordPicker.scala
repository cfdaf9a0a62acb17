// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import spinal.core._
import spinal.lib._

/** Picks a header's words by number out of the windows.
  *
  * @param windows the windows that pass
  * @param pair    their number, counted so that word n of the header stands in window n / 2 ...
  * @param shifted ... or, with this, one word later
  */
class WordPicker(windows: Flow[FrameWindow], pair: UInt, shifted: Bool) {
  private val even = shifted ? windows.words(1) | windows.words(0)
  private val odd = shifted ? windows.words(0) | windows.words(1)

  def word(number: Int): Bits = if (number % 2 == 0) even else odd

  /** Word `number` is whole and passes. */
  def passes(number: Int): Bool = {
    val inItsWindow = pair === number / 2
    val here = if (number % 2 == 0) inItsWindow else shifted ? (pair === number / 2 + 1) | inItsWindow
    windows.valid && !windows.end && here
  }
}
