/// The page, built into the program.
///
/// A test holds the list to what is in the folder `web`.
enum EmbeddedPage {
  static var files: [String: [UInt8]] {
    [
      "clock.js": PackageResources.clock_js,
      "connection.js": PackageResources.connection_js,
      "countdown.js": PackageResources.countdown_js,
      "favicon.svg": PackageResources.favicon_svg,
      "freshness.js": PackageResources.freshness_js,
      "index.html": PackageResources.index_html,
      "main.js": PackageResources.main_js,
      "style.css": PackageResources.style_css,
      "timersync.js": PackageResources.timersync_js,
      "token.js": PackageResources.token_js,
      "view.js": PackageResources.view_js,
    ]
  }
}
