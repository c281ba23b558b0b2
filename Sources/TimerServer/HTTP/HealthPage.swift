import TimerProtocol
import TimerStorage

/// The full response of `/healthz`, made again only when its contents change: it may name thousands of files, and
/// anyone may request it.
struct HealthPage {
  private var faultsVersion: Int?
  private var trouble: String?
  private var clock = Health.Clock()
  private var text: [UInt8] = []

  mutating func text(of quarantine: Quarantine, trouble: String?, clock: Health.Clock) -> [UInt8] {
    guard
      faultsVersion != quarantine.version || self.trouble != trouble || self.clock != clock
    else { return text }
    faultsVersion = quarantine.version
    self.trouble = trouble
    self.clock = clock
    let faults = quarantine.faults.values.sorted { $0.fileName < $1.fileName }
    text =
      Health(
        faults: faults.map {
          Health.Fault(file: $0.fileName.text, reason: "\($0.fault)", movedTo: $0.movedTo)
        }, trouble: trouble, clock: clock
      ).text
    return text
  }
}
