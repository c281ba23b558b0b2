public import TimerCore

extension TimerSettings {
  /// The members for the person who speaks, on the wire and in a timer's file; each is there only if it is set.
  public func writeForSpeaker(to writer: inout JSONWriter) {
    if let message {
      writer.member("message") {
        $0.member("text", message.text.text)
        $0.member("sentAt", message.sentAt)
      }
    }
    if let signal {
      writer.member("signal") {
        $0.member("kind", signal.kind.rawValue)
        $0.member("sentAt", signal.sentAt)
      }
    }
  }
}
