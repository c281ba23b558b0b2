import Foundation
import TimerCore

/// Tells files of this server from those of other programs.
///
/// A data folder may be any folder, with files of other programs that are named like timers' files: those are neither
/// moved nor overwritten.
enum TimerFileMark {
  /// Returns whether a file was meant to hold a timer; `key` is the timer of its name, if there is one.
  ///
  /// An empty file, or one that begins with zeros, as a power cut leaves it, counts as ours: no program's JSON begins
  /// like that.
  static func isOurs(_ contents: Data, key: String?) -> Bool {
    if contents.first ?? 0 == 0 { return true }
    guard let json = try? JSONSerialization.jsonObject(with: contents, options: .fragmentsAllowed)
    else { return isBeginning(contents, key) }
    return (json as? [String: Any]).map { isTimer($0, key) } ?? false
  }

  /// Returns whether it is the JSON of an object that names a timer, whatever its version.
  static func namesTimer(_ contents: Data) -> Bool {
    let json = try? JSONSerialization.jsonObject(with: contents, options: .fragmentsAllowed)
    return (json as? [String: Any])?["timer"] is String
  }

  private static func isTimer(_ object: [String: Any], _ key: String?) -> Bool {
    let type = object["type"] as? String
    let hasType = type == "timer" || type == "stopwatch"
    let hasVersion = object["version"] is NSNumber || object["version"] is Int
    guard let timer = object["timer"] as? String else { return hasType && hasVersion }
    return key.map { timer.utf8.elementsEqual($0.utf8) } ?? false || hasType || hasVersion
  }

  /// Returns whether it is the beginning of a timer's file, cut off or damaged later on.
  private static func isBeginning(_ contents: Data, _ key: String?) -> Bool {
    let beginning = contents.prefix(beginningBytes)
    let marks = ["\"timer\"", "\"version\""].map { Data($0.utf8) }
    if marks.allSatisfy({ beginning.firstRange(of: $0) != nil }) { return true }
    let ours = Data("{\"version\":\(TimerRecord.version),\"timer\":".utf8)
    let dense = Data(beginning.filter { !spaces.contains($0) })
    return !dense.isEmpty && dense.count <= ours.count && ours.starts(with: dense)
  }

  private static let beginningBytes = 512
  private static let spaces = Set(" \n\r\t".utf8)
}
