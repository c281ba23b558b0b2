/// One file of the page, held in memory.
public struct StaticFile: Sendable, Equatable {
  public var contentType: String
  public var body: [UInt8]
  /// With its quotes, as it goes out.
  public var entityTag: String

  public init(contentType: String, body: [UInt8], entityTag: String) {
    self.contentType = contentType
    self.body = body
    self.entityTag = entityTag
  }
}
