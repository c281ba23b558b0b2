import Foundation
import Testing
import TimerCore

@testable import TimerStorage

@Suite struct `A data folder that was away` {
  private let temporary = TemporaryFolder()

  @Test(.timeLimit(.minutes(1)), arguments: [["tea"], ["tea", "rice"]])
  func `reports edits before it accepts changes again`(_ edited: [String]) async throws {
    let path = temporary.path("data")
    var folder = try TimerFolder(path: path, clock: .now)
    _ = try folder.load()
    let (notes, sink) = AsyncStream.makeStream(of: StoreEvent.self)
    let writer = FolderStore(folder: folder) { sink.yield($0) }
    try writer.watch(path)
    writer.submit([.make(1, "tea"), .make(2, "rice")])
    writer.finish()

    try FileManager.default.moveItem(atPath: path, toPath: temporary.path("away"))
    var told: [String] = []
    var edits = 0
    for await note in notes {
      switch note {
      case .writable(.some):
        for name in edited {
          try temporary.replace(
            "away/\(name).json", by: TimerRecord.make(name, revision: 99).contents())
        }
        try FileManager.default.moveItem(atPath: temporary.path("away"), toPath: path)
        told.append("trouble")
      case .external(let changes): edits += changes.count
      case .writable(nil): told.append("recovery after \(edits) edits")
      default: break
      }
      if told.last?.hasPrefix("recovery") == true { break }
    }

    #expect(told == ["trouble", "recovery after \(edited.count) edits"])
  }
}
