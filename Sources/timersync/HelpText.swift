/// The texts of `--help`.
enum HelpText {
  static let program = """
    timersync: shared timers, the same second on every screen

    usage:
      timersync serve [OPTIONS]    start the server ('timersync serve --help' lists the options)
      timersync token add | list | remove    who may do what ('timersync token --help')
      timersync --version          print the version
      timersync --help             print this
    """

  static let serve = """
    usage: timersync serve [OPTIONS]

    Serves the page on http://ADDRESS:PORT/, the WebSocket on /ws and the HTTP commands on /api/timers.
    SIGTERM and SIGINT stop it: what was answered is on the disk, and clients are told to come back. A
    second one ends it at once. SIGHUP reads the tokens and the certificate anew. SIGUSR1 and SIGUSR2 are
    ignored.

    where to listen
      --listen ADDRESS     a numeric address, or localhost, which is 127.0.0.1 and ::1; may be given again
                           (default 127.0.0.1)
      --port PORT          on each address; 0 picks a free one and prints it (default 8080)
      --host NAME          a further name of this server, as browsers spell it, without port; may be
                           given again
      --origin ORIGIN      another site whose pages may use it, as in https://show.example; an app's, as in
                           tauri://localhost; null or file:// for pages opened as files; may be given again

    how many cores
      --threads COUNT      loops that share the connections, a thread each, 1 to 64; the timers stay on
                           the first (default 1)

    TLS, and proxies in front
      --tls-cert FILE      the certificate and those that lead to its root, in PEM: the port speaks TLS 1.2
                           and up, and nothing else; under a --host, browsers are told to come by TLS alone
      --tls-key FILE       its key, in PEM, with no passphrase; SIGHUP reads both files anew, for the
                           connections from then on, and those before stay in use when they can't be read
      --trusted-proxy ADDRESS  a proxy, or a range as in 10.0.0.0/8, whose X-Forwarded-For (or, where there
                           is none, Forwarded) says who its client is; nobody else's is believed; may be
                           given again

    who may do what
      --anonymous ROLE     what visitors without a token may do: none, view or control. Default: control
                           on loopback while there are no tokens, none once there are some; without
                           either, any address that is not loopback is refused, and any proxy
      --tokens FILE        the tokens, as 'timersync token' keeps them; followed when it changes
                           (default FOLDER/.timersync/tokens.json of the data folder)
      --allow-get          lets GET /api/timers/NAME/COMMAND?…&token=TOKEN change a timer, for button
                           boxes that can only open a URL; not what a browser fetches ahead of need
      --frame-ancestors SITE  who may show the page inside theirs: none, self, an origin as in
                           https://dash.example, or * for anybody; may be given again (default none,
                           which is right for OBS too)

    how to stop
      --drain SECONDS      in which connections may answer the close frame, 0 to 3600; the process ends at
                           most 5 s later, whatever the disk does (default 2)

    what to keep and to show
      --data FOLDER        where the timers are kept, one JSON file each
                           (default $XDG_DATA_HOME/timersync, else ~/.local/share/timersync; a path there
                           that is empty or relative counts as none)
      --web FOLDER         a page of your own instead of the built-in one; read once, at the start
      --log-level LEVEL    error, warning, info or debug, on standard error (default info); what clients
                           cause again and again is one line a minute, with a count

    what is too much
      --connections COUNT  WebSockets at once; one more is closed with 1013 (default 16384)
      --connections-per-address COUNT  of one IPv4 address or IPv6 network (64 bits); one more is closed
                           with 1013, or answered with 503; loopback is not bounded (default 512)
      --http-connections COUNT  at once, half handshakes included; beyond that the one that has kept us
                           waiting longest is closed (default 1024)
      --handshake-seconds COUNT  in which a request or a handshake has to be here; over it 408, or closed
                           (default 10)
      --header-bytes COUNT  of a request's head; over it 431 (default 16384)
      --message-bytes COUNT  of a message over all its fragments, or of a body; over it 1009, or 413
                           (default 16384)
      --unread-bytes COUNT  that wait for a reader, beside one message that is larger; with half of them its
                           requests wait, beyond them it is closed with 1013 (default 1048576)
      --unread-bytes-total COUNT  that wait for all readers, HTTP included; beyond that the one with the
                           most is closed with 1013 (default 67108864)
      --timers COUNT       timers that may be made (default 10000)
      --subscriptions COUNT  of one connection (default 1000)
      --requests COUNT     a second on one connection, five times as many at once, and ten times as many of
                           one token or address; long lists, many names and QR codes count for several;
                           more are answered by rateLimited, and closed with 1008 if that goes on
                           (default 1000)
      --http-requests COUNT  a second by HTTP from one IPv4 address or IPv6 network (64 bits), counted in
                           the same way; more are answered by 429 rateLimited (default 1000)
      --replies COUNT      that one connection waits for; with so many it is not read until half of them
                           are out (default 64)
      --pending COUNT      changes that wait for the disk in all; with so many, connections that ask for
                           more are not read until half of them are stored (default 4096)
      --title-bytes COUNT  of a title, at most 256; over it badRequest (default 256)
      --warnings COUNT     of one timer, at most 16; over it badRequest (default 16)
    Fixed: 64 pauses kept apart, 5 wrong tokens sent by authenticate, 20000 ticks of single timers a second
    on intervals that one token or address alone asked for, 30 s in which a reader may take nothing of what
    waits for it.

    exit codes: 0 stopped as asked, 64 wrong options, or no folder to keep the timers in, 65 data of a newer
    version, 69 it could not start, and has left nothing behind, 74 stopped as asked, but the disk did not
    answer: what had been answered is on it, what was under way may be
    """

  static let token = """
    usage: timersync token add --name NAME --role ROLE [OPTIONS]
           timersync token list [OPTIONS]
           timersync token remove NAME [OPTIONS]

    'add' makes a token and prints it, this once: only a digest is kept. 'list' shows who has one.
    'remove' ends it: a running server closes its connections within a second.

      --name NAME          for the log, and to remove it by
      --role ROLE          view: subscribe, get, list; control: change timers too
      --timer PATTERN      a timer that it is held to, or the beginning of names and a *; may be given
                           again (default all)
      --expires INSTANT    when it ends, as in 2026-12-31T18:00:00Z
      --expires-in LENGTH  how long it lives, as in 45s, 90m, 12h or 7d
      --data FOLDER        the server's data folder, as for 'timersync serve'
      --tokens FILE        the file of tokens, as for 'timersync serve'

    exit codes: 0 done, 64 wrong options, 65 a name that is taken or not known, 69 the file can't be used,
    74 standard output can't be written: a token that could not be shown is not kept
    """
}
