import Testing

@testable import TimerProtocol

@Suite struct `The fingerprint of a change` {
  private func fingerprint(_ json: String) throws -> Int? {
    try ClientMessage(Array(json.utf8)).request.fingerprint?.value
  }

  /// Requests of which each asks for something else.
  private static let changes = [
    #"{"command":"start"}"#,
    #"{"command":"start","timer":"é"}"#,
    #"{"command":"start","timer":"e\u0301"}"#,
    #"{"command":"start","duration":5}"#,
    #"{"command":"start","duration":5.000001}"#,
    #"{"command":"start","type":"timer"}"#,
    #"{"command":"start","type":"stopwatch"}"#,
    #"{"command":"start","atZero":"repeat"}"#,
    #"{"command":"start","title":""}"#,
    #"{"command":"start","title":"é"}"#,
    #"{"command":"start","title":"e\u0301"}"#,
    #"{"command":"start","title":"\",\"force\":true,\""}"#,
    #"{"command":"start","warnings":[]}"#,
    #"{"command":"start","warnings":[60,10]}"#,
    #"{"command":"start","warnings":[10,60]}"#,
    #"{"command":"start","force":true}"#,
    #"{"command":"start","ifRevision":0}"#,
    #"{"command":"start","at":0}"#,
    #"{"command":"start","at":1764480000.000001}"#,
    #"{"command":"update","title":""}"#,
    #"{"command":"update","atZero":"reset"}"#,
    #"{"command":"pause"}"#,
    #"{"command":"resume"}"#,
    #"{"command":"finish"}"#,
    #"{"command":"finish","resetTime":true}"#,
    #"{"command":"finishAll"}"#,
    #"{"command":"finishAll","at":0}"#,
    #"{"command":"reset"}"#,
    #"{"command":"addRemainingTime","seconds":5}"#,
    #"{"command":"addRemainingTime","seconds":-5}"#,
    #"{"command":"addRemainingTime","seconds":5,"clamp":true}"#,
    #"{"command":"addElapsedTime","seconds":5}"#,
    #"{"command":"lap"}"#,
    #"{"command":"message","text":""}"#,
    #"{"command":"message","text":"flash"}"#,
    #"{"command":"signal","signal":"none"}"#,
    #"{"command":"signal","signal":"flash"}"#,
    #"{"command":"signal","signal":"blackout"}"#,
    #"{"command":"remove"}"#,
  ]

  @Test func `differs for each change`() throws {
    let fingerprints = try Self.changes.map { try fingerprint($0) }

    #expect(!fingerprints.contains(nil))
    #expect(Set(fingerprints).count == Self.changes.count)
  }

  @Test(arguments: [
    (
      #"{"command":"start","duration":5}"#, #"{"duration":5.0,"timer":"default","command":"start"}"#
    ),
    (#"{"command":"start"}"#, #"{"id":7,"command":"start","force":false,"requestId":"r"}"#),
    (#"{"command":"message","text":""}"#, #"{"command":"message","text":null,"requestId":"s"}"#),
    (#"{"command":"start","title":"é"}"#, #"{"command":"start","title":"\u00e9"}"#),
  ])
  func `does not hang on the spelling, nor on the name`(_ one: String, _ other: String) throws {
    #expect(try fingerprint(one) == fingerprint(other))
  }

  @Test func `is the same in each process, and in each version`() throws {
    #expect(
      try fingerprint(#"{"command":"start","timer":"tea","duration":300,"title":"Grüner Tee"}"#)
        == 2_882_953_066_178_769)
  }

  @Test(arguments: [#"{"command":"list"}"#, #"{"command":"get"}"#, #"{"command":"sync"}"#])
  func `is none for what changes nothing`(_ json: String) throws {
    #expect(try fingerprint(json) == nil)
  }
}
