import CFiles
import Dispatch
import Foundation
import Synchronization
import WebSocketTransport

/// Writes lines to a file, a pipe or a terminal on a thread of its own, so that no other thread waits for a slow
/// reader.
///
/// Waiting lines are kept in order up to a limit. Lines over it are dropped, and a line with their count is written
/// when there is room again.
public final class LineWriter: Sendable {
  public static let standardOutput = LineWriter(descriptor: 1)
  public static let standardError = LineWriter(descriptor: 2)

  /// The number of bytes that may wait.
  static let bytesMax = 256 << 10

  private struct State {
    var lines = Queue<String>()
    var bytes = 0
    /// Lines that found no room and are not reported yet.
    var droppedCount = 0
    /// Lines that could not be written since the last one that was.
    var lostCount = 0
    /// True while a line is being written, however long the reader takes.
    var isWriting = false
    var isThreadAsleep = false
    /// nil before the first line; false if the system gives no thread.
    var hasThread: Bool?
    /// True if a line was written in part: the next text starts on a new line.
    var isCutOff = false
  }

  private let descriptor: Int32
  private let bytesMax: Int
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  init(descriptor: Int32, bytesMax: Int = LineWriter.bytesMax) {
    self.descriptor = descriptor
    self.bytesMax = bytesMax
  }

  /// Any thread; returns at once. `line` has no end of a line.
  public func write(_ line: String) {
    state.withLock { state in
      startThread(&state)
      append(line, &state)
      writePending(&state)
    }
  }

  /// Returns once all is written, or after `seconds`.
  public func flush(within seconds: Double) {
    let end = DispatchTime.now() + seconds
    while isBusy, DispatchTime.now() < end { Thread.sleep(forTimeInterval: 0.001) }
  }

  private var isBusy: Bool {
    state.withLock { state in
      writePending(&state)
      return state.isWriting || !state.lines.isEmpty
    }
  }

  // MARK: The queue

  private func append(_ line: String, _ state: inout State) {
    // Further lines are dropped too until the notice of dropped lines is written.
    guard state.droppedCount == 0, state.bytes + line.utf8.count < bytesMax else {
      state.droppedCount += 1
      return
    }
    state.bytes += line.utf8.count + 1
    state.lines.append(line + "\n")
  }

  private func popLine(_ state: inout State) -> String? {
    guard let line = state.lines.popFirst() else { return nil }
    state.bytes -= line.utf8.count
    // Reported only when there is room again, or every second line would be a notice.
    if state.droppedCount > 0, state.bytes < bytesMax / 2 { reportDropped(&state) }
    return line
  }

  private func reportDropped(_ state: inout State) {
    let notice = Self.notice(ofDropped: state.droppedCount)
    state.droppedCount = 0
    append(notice, &state)
  }

  private static func notice(ofDropped count: Int) -> String {
    let lines = count == 1 ? "1 line was" : "\(count) lines were"
    return Log.line(.warning, "\(lines) dropped here: there was no room for more")
  }

  // MARK: The thread

  private func startThread(_ state: inout State) {
    guard state.hasThread == nil else { return }
    // It lives as long as the process, as this does.
    state.hasThread = LoopThread { self.run() } != nil
  }

  /// Has the thread go on; without one, writes what can be written without a wait.
  private func writePending(_ state: inout State) {
    if state.isThreadAsleep {
      state.isThreadAsleep = false
      wake.signal()
    }
    guard state.hasThread == false else { return }
    while files_has_room(descriptor) != 0, let text = nextText(&state) {
      recordResult(files_write_text(descriptor, text, 0), &state)
    }
  }

  private func run() {
    while true {
      let text: String? = state.withLock { state in
        guard let text = nextText(&state) else {
          state.isThreadAsleep = true
          return nil
        }
        state.isWriting = true
        return text
      }
      guard let text else {
        wake.wait()
        continue
      }
      let written = writeAll(text)
      state.withLock { state in
        state.isWriting = false
        recordResult(written, &state)
      }
    }
  }

  /// Waits for a disk that is full; a program that has closed its end does not come back.
  private func writeAll(_ text: String) -> files_written {
    var written = files_write_text(descriptor, text, 0)
    while Self.mayPass.contains(written.error) {
      Thread.sleep(forTimeInterval: 1)
      written = files_write_text(descriptor, text, written.count)
    }
    return written
  }

  private static let mayPass = [ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM]

  /// The next line, preceded by a notice of lines that were lost.
  private func nextText(_ state: inout State) -> String? {
    guard let line = popLine(&state) else { return nil }
    let lost = state.lostCount > 0 ? Self.notice(ofDropped: state.lostCount) + "\n" : ""
    return (state.isCutOff ? "\n" : "") + lost + line
  }

  private func recordResult(_ written: files_written, _ state: inout State) {
    if written.error == 0 {
      (state.lostCount, state.isCutOff) = (0, false)
    } else {
      state.lostCount += 1
      state.isCutOff = state.isCutOff || written.count > 0
    }
  }
}
