import Dispatch
import Foundation
import Testing

@testable import TimerServer

@Suite struct `A writer of lines` {
  private let pipe = Pipe()
  private var descriptor: Int32 { pipe.fileHandleForWriting.fileDescriptor }

  /// More than a pipe holds.
  private static let much = 100 << 10

  private func read(until end: String) -> String {
    var found = Data()
    while !found.suffix(200).contains(end) { found += pipe.fileHandleForReading.availableData }
    return String(decoding: found, as: UTF8.self)
  }

  @Test func `keeps the order of its lines`() {
    let writer = LineWriter(descriptor: descriptor)

    for number in 1...500 { writer.write("line \(number)") }

    #expect(read(until: "line 500\n") == (1...500).map { "line \($0)\n" }.joined())
  }

  @Test func `never blocks, and counts the lines that it drops`() throws {
    let writer = LineWriter(descriptor: descriptor, bytesMax: Self.much)
    let line = String(repeating: "x", count: 999)
    let start = DispatchTime.now()

    for _ in 1...1_000 { writer.write(line) }
    writer.flush(within: 0.05)

    #expect(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds < 5_000_000_000)
    let said = read(until: "dropped here: there was no room for more\n").split(separator: "\n")
    let word = try #require(said.last)
    let dropped = try #require(word.split(separator: " ").compactMap { Int($0) }.first)
    #expect(said.dropLast().allSatisfy { $0 == line })
    #expect(said.count - 1 + dropped == 1_000)
    writer.write("more")
    #expect(read(until: "more\n") == "more\n")
  }

  @Test func `works on a non-blocking descriptor`() {
    let flags = fcntl(descriptor, F_GETFL)
    #expect(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
    let writer = LineWriter(descriptor: descriptor)
    let line = String(repeating: "y", count: 9_999)

    for _ in 1...20 { writer.write(line) }
    writer.write("end")

    let lengths = read(until: "end\n").split(separator: "\n").map(\.count)
    #expect(lengths == Array(repeating: 9_999, count: 20) + [3])
  }

  @Test func `says how many were lost as soon as one comes through`() throws {
    // A file that may only be read accepts no line.
    let file = FileManager.default.temporaryDirectory.path + "/log-" + UUID().uuidString
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    defer { try? FileManager.default.removeItem(atPath: file) }
    let closed = try #require(FileHandle(forReadingAtPath: file))
    let open = try #require(FileHandle(forWritingAtPath: file))
    let writer = LineWriter(descriptor: closed.fileDescriptor)
    for number in 1...3 { writer.write("lost \(number)") }
    writer.flush(within: 10)

    #expect(dup2(open.fileDescriptor, closed.fileDescriptor) >= 0)
    writer.write("found")
    writer.flush(within: 10)

    let said = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    #expect(said.count == 2)
    #expect(said.first?.hasSuffix("3 lines were dropped here: there was no room for more") == true)
    #expect(said.last == "found")
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}

@Suite struct `A line that can't be written` {
  @Test func `throws where there is no room, and where nothing is open`() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))

    let failure = #expect(throws: OutputFailure.self) {
      try StandardOutput.write("token", to: full.fileDescriptor)
    }
    #expect(
      failure?.with("no token was made").description
        == "standard output can't be written (No space left on device); no token was made")
    #expect(throws: OutputFailure.closed) { try StandardOutput.write("token", to: -1) }
  }
}
