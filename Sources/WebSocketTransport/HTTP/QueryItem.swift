/// One `name=value` of a query string, percent-decoded.
public struct QueryItem: Sendable, Equatable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
