/// The page, built into the program.
///
/// A test holds the list to what is in the folder `web`.
enum EmbeddedPage {
  static var files: [String: [UInt8]] {
    [
      "address.js": PackageResources.address_js,
      "card.js": PackageResources.card_js,
      "clock.js": PackageResources.clock_js,
      "connection.js": PackageResources.connection_js,
      "control.css": PackageResources.control_css,
      "control.html": PackageResources.control_html,
      "control.js": PackageResources.control_js,
      "countdown.js": PackageResources.countdown_js,
      "dashboard.css": PackageResources.dashboard_css,
      "dashboard.html": PackageResources.dashboard_html,
      "dashboard.js": PackageResources.dashboard_js,
      "display.css": PackageResources.display_css,
      "display.html": PackageResources.display_html,
      "display.js": PackageResources.display_js,
      "duration.js": PackageResources.duration_js,
      "favicon.svg": PackageResources.favicon_svg,
      "freshness.js": PackageResources.freshness_js,
      "index.html": PackageResources.index_html,
      "language.js": PackageResources.language_js,
      "laps.js": PackageResources.laps_js,
      "main.js": PackageResources.main_js,
      "markup.js": PackageResources.markup_js,
      "order.js": PackageResources.order_js,
      "session.js": PackageResources.session_js,
      "shell.js": PackageResources.shell_js,
      "style.css": PackageResources.style_css,
      "timersync.js": PackageResources.timersync_js,
      "token.js": PackageResources.token_js,
      "undo.js": PackageResources.undo_js,
    ]
  }
}
