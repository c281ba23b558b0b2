import TimerProtocol

/// The last pictures of QR codes, since a room of people asks for the same one. In memory alone: a link may hold a token.
struct QRCodeCache {
  /// The latest last.
  private var pictures: [(text: String, svg: [UInt8])] = []

  private static let countMax = 16

  func picture(of text: QRText) -> [UInt8]? {
    pictures.first { $0.text.utf8.elementsEqual(text.text.utf8) }?.svg
  }

  mutating func insert(_ svg: [UInt8], of text: QRText) {
    if pictures.count >= Self.countMax { pictures.removeFirst() }
    pictures.append((text.text, svg))
  }
}
