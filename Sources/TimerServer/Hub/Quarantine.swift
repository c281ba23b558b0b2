import TimerCore
import TimerProtocol
import TimerStorage

/// Files that hold no timer, so that a damaged timer is not taken for one that never existed.
struct Quarantine {
  /// The faults by the bytes of their places, for the health page.
  private(set) var faults: [[UInt8]: StoreFault] = [:] {
    didSet { healthPage = nil }
  }
  /// Files in the places of timers that must not be replaced.
  private var obstacles: [TimerID: RecordFault] = [:]
  /// The last health page; nil after a change of the faults.
  private var healthPage: HealthPage?
  /// Lost timers whose loss was not reported to anyone who starts them.
  private var unreportedLosses: Set<TimerID> = []

  init(_ contents: StoreContents) {
    for fault in contents.faults {
      add(fault)
      if fault.fault.isDamage, let id = fault.timer { unreportedLosses.insert(id) }
    }
    // The log had these though their files were damaged.
    unreportedLosses.subtract(contents.timers.map(\.timer.id))
  }

  /// The full response of `/healthz`, made again only when its contents change: it may name thousands of files, and
  /// anyone may request it.
  mutating func healthPage(trouble: String?, clock: Health.Clock) -> [UInt8] {
    if let page = healthPage, page.trouble == trouble, page.clock == clock { return page.text }
    let sorted = faults.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let listed = sorted.map(\.value).map {
      Health.Fault(file: $0.place, reason: "\($0.fault)", movedTo: $0.movedTo)
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

  /// A place was damaged while its timer is held in memory.
  mutating func add(_ fault: StoreFault) {
    faults[Array(fault.place.utf8)] = fault
    if let id = fault.timer { obstacles[id] = fault.fault.isDamage ? nil : fault.fault }
  }

  /// Returns why this timer was lost, for the first request to start it.
  mutating func reportLoss(of id: TimerID) -> String? {
    guard unreportedLosses.remove(id) != nil else { return nil }
    return faults.values.first { $0.timer == id }.map { "\($0.fault)" }
  }

  /// Why the file in the place of this timer's is not to be replaced; nil: it may be.
  func obstacle(to id: TimerID) -> RecordFault? {
    obstacles[id]
  }

  /// The timer has a file again.
  mutating func remove(_ id: TimerID) {
    guard !faults.isEmpty else { return }
    unreportedLosses.remove(id)
    obstacles[id] = nil
    guard faults.values.contains(where: { $0.timer == id }) else { return }
    faults = faults.filter { $0.value.timer != id }
  }
}
