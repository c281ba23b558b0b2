public import TimerCore

extension JSONWriter {
  /// Writes a setting as states and files have it.
  public mutating func member(_ field: SettingField, of settings: TimerSettings) {
    switch field {
    case .type: member(type: settings.type)
    case .atZero: member(field.name, settings.atZero.rawValue)
    case .title: member(field.name, settings.title)
    case .warnings: member(field.name, settings.warnings)
    case .message: if let message = settings.message { member(field.name, message) }
    case .signal: if let signal = settings.signal { member(field.name, signal) }
    }
  }

  /// Writes the new value of a setting, if the update has one.
  public mutating func member(_ field: SettingField, of update: TimerUpdate) {
    switch field {
    case .atZero: if let atZero = update.atZero { member(field.name, atZero.rawValue) }
    case .title: if let title = update.title { member(field.name, title) }
    case .warnings: if let warnings = update.warnings { member(field.name, warnings) }
    case .type, .message, .signal: break
    }
  }

  /// Writes the type of a run or of the next one, and a countdown's duration.
  public mutating func member(type: RestoreType) {
    let duration = type.duration
    member("type", duration == nil ? "stopwatch" : "timer")
    if let duration { member("duration", duration) }
  }

  private mutating func member(_ name: String, _ lengths: [Seconds]) {
    array(name, lengths) { $0.value($1) }
  }

  private mutating func member(_ name: String, _ message: SpeakerMessage) {
    member(name) {
      $0.member("text", message.text.text)
      $0.member("sentAt", message.sentAt)
    }
  }

  private mutating func member(_ name: String, _ signal: SpeakerSignal) {
    member(name) {
      $0.member("kind", signal.kind.rawValue)
      $0.member("sentAt", signal.sentAt)
    }
  }
}
