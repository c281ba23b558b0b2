/// The files of the page: exact paths in a dictionary, so that no path leads outside.
enum StaticFiles {
  static func answer(_ head: HTTPHead, segments: [String], files: [String: StaticFile])
    -> HTTPResponse
  {
    let path = segments == [""] ? "/index.html" : "/" + segments.joined(separator: "/")
    guard let file = files[path], !segments.contains(where: { $0.contains("/") }) else {
      return HTTPReply.plain(404, "There is nothing at this path.")
    }
    guard head.method != "OPTIONS" else { return HTTPReply.allowing(["GET", "HEAD", "OPTIONS"]) }
    guard head.method == "GET" || head.method == "HEAD" else {
      return HTTPReply.plain(
        405, "Files support GET and HEAD only.", [HTTPHeader("Allow", "GET, HEAD")])
    }
    let tag = HTTPHeader("ETag", file.entityTag)
    let wanted = head.entityTags("if-match")
    guard wanted.isEmpty || wanted.contains(where: { $0 == "*" || $0 == file.entityTag }) else {
      return HTTPReply.plain(412, "The file has changed.", [tag])
    }
    // RFC 9110 §14.2: a server may ignore Range, and this one does.
    let isKnown = head.entityTags("if-none-match").contains { tag in
      tag == "*" || tag == file.entityTag || tag == "W/\(file.entityTag)"
    }
    return HTTPResponse(
      status: isKnown ? 304 : 200, contentType: file.contentType,
      headers: [tag, HTTPHeader("Cache-Control", "no-cache")],
      body: isKnown ? [] : file.body)
  }
}
