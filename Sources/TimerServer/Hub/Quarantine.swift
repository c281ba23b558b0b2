import TimerCore
import TimerProtocol
import TimerStorage

/// Files that hold no timer, so that a damaged timer is not taken for one that never existed.
struct Quarantine {
  /// The faults by file name, for the health page.
  private(set) var faults: [FileName: FileFault] = [:] {
    didSet { healthPage = nil }
  }
  /// The last health page; nil after a change of the faults.
  private var healthPage: HealthPage?
  /// Lost timers whose loss was not reported to anyone who starts them.
  private var unreportedLosses: Set<TimerID> = []

  init(_ contents: TimerFolder.Contents) {
    for fault in contents.faults {
      faults[fault.fileName] = fault
      if fault.fault.isDamage, let id = fault.timer { unreportedLosses.insert(id) }
    }
    // The log had these though their files were damaged.
    unreportedLosses.subtract(contents.timers.map(\.timer.id))
  }

  /// The full response of `/healthz`, made again only when its contents change: it may name thousands of files, and
  /// anyone may request it.
  mutating func healthPage(trouble: String?, clock: Health.Clock) -> [UInt8] {
    if let page = healthPage, page.trouble == trouble, page.clock == clock { return page.text }
    let listed = faults.values.sorted { $0.fileName < $1.fileName }.map {
      Health.Fault(file: $0.fileName.text, reason: "\($0.fault)", movedTo: $0.movedTo)
    }
    let text = Health(faults: listed, trouble: trouble, clock: clock).text
    healthPage = HealthPage(trouble: trouble, clock: clock, text: text)
    return text
  }

  private struct HealthPage {
    let trouble: String?
    let clock: Health.Clock
    let text: [UInt8]
  }

  /// A file was damaged while its timer is held in memory.
  mutating func add(_ fault: FileFault) {
    faults[fault.fileName] = fault
  }

  /// Returns why this timer was lost, for the first request to start it.
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
