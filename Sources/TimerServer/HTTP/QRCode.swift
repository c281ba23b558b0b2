import CLibqrencode
import TimerProtocol

/// A QR code. It is made on the server, since a link with a token must not go to another service.
struct QRCode {
  /// Modules along a side.
  let width: Int
  /// Row by row; 1 is dark.
  private let modules: [UInt8]

  /// nil when libqrencode has no memory; a text within its bound always fits.
  init?(_ text: QRText) {
    var modules = [UInt8](repeating: 0, count: Int(qr_width_max * qr_width_max))
    width = Int(qr_encode(text.text, &modules, Int32(modules.count)))
    guard width > 0 else { return nil }
    self.modules = modules
  }

  /// Light modules around the code: ISO/IEC 18004 asks for four.
  static let quietZone = 4

  /// The code as an SVG image without a size of its own: one path of dark runs on white, so that no renderer leaves a
  /// gap between modules.
  var svg: [UInt8] {
    let side = width + 2 * Self.quietZone
    var path = ""
    for row in 0..<width {
      for run in runs(in: row) {
        path +=
          "M\(run.lowerBound + Self.quietZone) \(row + Self.quietZone)h\(run.count)v1h-\(run.count)z"
      }
    }
    let picture =
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(side) \#(side)" shape-rendering="crispEdges">"#
      + ##"<rect width="\##(side)" height="\##(side)" fill="#fff"/><path fill="#000" d="\##(path)"/></svg>"##
    return Array(picture.utf8)
  }

  /// The columns at which a row is dark.
  private func runs(in row: Int) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var column = 0
    while column < width {
      let start = column
      while column < width, modules[row * width + column] == 1 { column += 1 }
      if column > start { runs.append(start..<column) }
      column += 1
    }
    return runs
  }
}
