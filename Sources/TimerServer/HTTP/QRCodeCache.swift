import TimerProtocol

/// The latest QR codes, since many people in a room request the same one. In memory only: a link may hold a token.
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
