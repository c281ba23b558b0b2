import TimerCore
import TimerStorage

/// Files that hold no timer, so that nobody takes a damaged timer for one that never was.
struct Quarantine {
  /// By file name, for whoever asks how the server is.
  private(set) var faults: [FileName: FileFault] = [:] {
    didSet { version += 1 }
  }
  /// Another one whenever the faults are others.
  private(set) var version = 0
  /// Timers whose loss nobody who starts them was told of yet.
  private var unreportedLosses: Set<TimerID> = []

  init(_ contents: TimerFolder.Contents) {
    for fault in contents.faults {
      faults[fault.fileName] = fault
      if fault.fault.isDamage, let id = fault.timer { unreportedLosses.insert(id) }
    }
    // The log had these though their files were damaged.
    unreportedLosses.subtract(contents.timers.map(\.timer.id))
  }

  /// A file was damaged while its timer is held in memory.
  mutating func add(_ fault: FileFault) {
    faults[fault.fileName] = fault
  }

  /// Why this timer was lost, the first time that somebody wants to start it.
  mutating func reportLoss(of id: TimerID) -> String? {
    guard unreportedLosses.remove(id) != nil else { return nil }
    return faults.values.first { $0.timer == id }.map { "\($0.fault)" }
  }

  /// Why the file in the place of this timer's is not to be replaced; nil: it may be.
  func obstacle(to id: TimerID) -> RecordFault? {
    guard !faults.isEmpty, let name = FileName(key: id.name), let fault = faults[name]?.fault,
      !fault.isDamage
    else { return nil }
    return fault
  }

  /// The timer has a file again.
  mutating func remove(_ id: TimerID) {
    guard !faults.isEmpty else { return }
    unreportedLosses.remove(id)
    guard faults.values.contains(where: { $0.timer == id }) else { return }
    faults = faults.filter { $0.value.timer != id }
  }
}
