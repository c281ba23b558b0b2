import TimerCore

// MARK: - The settings, read as their table says

extension RequestField {
  init(_ setting: SettingField) {
    switch setting.kind {
    case .type, .atZero, .text, .message, .signal: self.init(setting.name, .text)
    case .lengths: self.init(setting.name, .numbers)
    }
  }
}

extension RequestFields {
  /// The new values of those settings that the request has.
  func settings() throws(ErrorReply) -> TimerUpdate {
    var update = TimerUpdate()
    for setting in SettingField.inRequests {
      let field = RequestField(setting)
      switch setting.kind {
      case .atZero(let place): update[keyPath: place.update] = try choice(field)
      case .text(let place, let bytesMax):
        update[keyPath: place.update] = try text(field, bytesMax)
      case .lengths(let place, let countMax):
        update[keyPath: place.update] = try lengths(field, countMax)
      case .type, .message, .signal: break
      }
    }
    return update
  }

  private func text(_ field: RequestField, _ bytesMax: Int) throws(ErrorReply) -> String? {
    guard let text = try string(field) else { return nil }
    guard text.utf8.count <= bytesMax else {
      throw .badRequest("\"\(field.name)\" has to be at most \(bytesMax) bytes long")
    }
    return text
  }

  private func lengths(_ field: RequestField, _ countMax: Int) throws(ErrorReply) -> [Seconds]? {
    guard let value = self[field] else { return nil }
    guard case .array(let elements) = value else { throw noLengths(field, value) }
    guard elements.count <= countMax else {
      throw .badRequest("\"\(field.name)\" has to have at most \(countMax) elements")
    }
    let rule = "numbers from 0 to \(TimerLimits.durationMax.text)"
    var lengths: [Seconds] = []
    for element in elements {
      guard case .number(let number) = element else { throw noLengths(field, value) }
      lengths.append(try seconds(field, number.value, in: .zero...TimerLimits.durationMax, rule))
    }
    return lengths
  }

  private func noLengths(_ field: RequestField, _ value: JSONValue) -> ErrorReply {
    wrongType(field, "a list of seconds like [60,10]", value)
  }
}
