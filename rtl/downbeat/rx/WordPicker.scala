// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import spinal.core._
import spinal.lib._

/** Picks words of a header, by number, out of the passing windows.
  *
  * @param windows the passing windows
  * @param pair    the window's number: word n of the header is in window n / 2
  * @param shifted the header begins one word later
  */
class WordPicker(windows: Flow[FrameWindow], pair: UInt, shifted: Bool) {
  private val even = shifted ? windows.words(1) | windows.words(0)
  private val odd = shifted ? windows.words(0) | windows.words(1)

  def word(number: Int): Bits = if (number % 2 == 0) even else odd

  /** Word `number` is whole and passes. */
  def passes(number: Int): Bool = {
    val inItsWindow = pair === number / 2
    val here = if (number % 2 == 0) inItsWindow else shifted ? (pair === number / 2 + 1) | inItsWindow
    windows.valid && !windows.empty && here
  }
}
