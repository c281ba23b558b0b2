/// One JSON value as it was read; numbers keep their spelling, objects the order of their members.
enum JSONValue: Equatable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The value's kind, for error messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A number with its spelling, so that it can be given back as it came.
struct JSONNumber: Equatable {
  let spelling: String
  /// Infinite when the spelling is beyond what a `Double` holds.
  let value: Double
}

/// An object's members, their names unique as bytes.
struct JSONObject: Equatable {
  private(set) var members: [Member] = []

  struct Member: Equatable {
    let name: String
    let value: JSONValue
  }

  subscript(name: String) -> JSONValue? {
    members.first { $0.name.isSpelled(name) }?.value
  }

  /// Adds a member; false, and nothing is added, when there is one of that name.
  mutating func add(_ name: String, _ value: JSONValue) -> Bool {
    guard self[name] == nil else { return false }
    members.append(Member(name: name, value: value))
    return true
  }
}

extension String {
  /// Returns whether both are the same bytes; `==` holds two spellings of é for one.
  func isSpelled(_ other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
