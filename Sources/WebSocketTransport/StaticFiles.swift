/// The files of the page: exact paths in a dictionary, so that no path leads outside.
enum StaticFiles {
  static func answer(_ head: HTTPHead, segments: [String], files: [String: StaticFile])
    -> HTTPResponse
  {
    let path = segments == [""] ? "/index.html" : "/" + segments.joined(separator: "/")
    guard let file = files[path], !segments.contains(where: { $0.contains("/") }) else {
      return HTTPReply.plain(404, "There is nothing at this path.")
    }
    guard head.method == "GET" || head.method == "HEAD" else {
      return HTTPReply.plain(
        405, "A file can be read by GET and HEAD only.", [HTTPHeader("Allow", "GET, HEAD")])
    }
    let headers = [HTTPHeader("ETag", file.entityTag), HTTPHeader("Cache-Control", "no-cache")]
    let isKnown = head.list("if-none-match").contains { tag in
      tag == "*" || tag == file.entityTag || tag == "W/\(file.entityTag)"
    }
    return HTTPResponse(
      status: isKnown ? 304 : 200, contentType: file.contentType, headers: headers,
      body: isKnown ? [] : file.body)
  }
}
