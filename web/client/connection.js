// One WebSocket that comes back by itself. Knows nothing of timers. No DOM.

const CONNECT_WITHIN = 8; // seconds, like every time here
const RETRY_FIRST = 0.5;
const RETRY_MOST = 20;
const RETRY_AFTER_RESTART = 3;
const STABLE_AFTER = 5;

const NEVER_COME_BACK = {
  1003: "the server got a binary message from this page",
  1007: "the server got broken text from this page",
  1008: "the server does not let this page in (wrong token, or a page of another site)",
  1009: "the server got too long a message from this page"
};

export class Connection {
  // options: `url`, `subprotocols`, `local` (a monotonic clock), and the calls `hear(message)` for
  // each JSON object, `change()` of `status` or `problem`, and `unheard()` when an attempt ended
  // before the server had said who it is.
  constructor(options) {
    this.options = options;
    this.status = "connecting"; // · "online" · "waiting" to try again · "refused" for good
    this.problem = null; // why not, in words
    this.offlineSince = options.local(); // null while online
    this.confirmedAt = null; // when something was last heard
    this.socket = null;
    this.attempts = 0;
    this.openedAt = null;
    this.alarms = {};
  }

  open() {
    this.cancel("retry");
    this.become("connecting", null);
    try {
      this.socket = new WebSocket(this.options.url, this.options.subprotocols);
    } catch (error) {
      this.stop("the browser does not allow the connection: " + error.message);
      return;
    }
    this.socket.onmessage = this.receive.bind(this);
    this.socket.onclose = this.lose.bind(this);
    this.expectAnswer(CONNECT_WITHIN);
  }

  // The server has said who it is. An open socket alone proves nothing: it may be a proxy's.
  establish() {
    this.openedAt = this.options.local();
    this.offlineSince = null;
    this.become("online", null);
  }

  // Ends it for good.
  stop(problem) {
    this.drop();
    this.offlineSince = this.options.local();
    this.become("refused", problem);
  }

  // False when there is nothing to send on.
  send(message, answerWithin) {
    if (this.socket === null || this.socket.readyState !== 1) {
      return false;
    }
    this.socket.send(JSON.stringify(message));
    this.expectAnswer(answerWithin);
    return true;
  }

  // Since when something that should have been answered has not been; null if nothing.
  get waitingSince() {
    return this.alarms.answer ? this.alarms.answer.setAt : null;
  }

  // Calls `ring` once after `delay`, unless the connection is lost before.
  alarm(name, delay, ring) {
    const now = this.options.local();
    const go = () => {
      delete this.alarms[name];
      ring(this.options.local() - now - delay); // how late it is
    };
    this.cancel(name);
    this.alarms[name] = { setAt: now, due: now + delay, id: setTimeout(go, delay * 1000) };
  }

  // — inside —

  receive(event) {
    this.cancel("answer");
    this.confirmedAt = this.options.local();
    const message = readObject(event.data);
    if (message !== null) {
      this.options.hear(message);
    }
  }

  lose(event) {
    this.drop();
    if (NEVER_COME_BACK[event.code]) {
      this.stop(NEVER_COME_BACK[event.code] + (event.reason ? ": " + event.reason : ""));
      return;
    }
    const now = this.options.local();
    const wasStable = this.openedAt !== null && now - this.openedAt > STABLE_AFTER;
    this.attempts = wasStable ? 0 : this.attempts + 1;
    const wasUnheard = this.openedAt === null;
    this.openedAt = null;
    this.offlineSince = this.offlineSince === null ? now : this.offlineSince;
    this.alarm("retry", Math.random() * this.longestDelay(event.code), this.open.bind(this));
    this.become("waiting", null);
    if (wasUnheard) {
      this.options.unheard();
    }
  }

  // At random up to this: a crowd must not come back at once.
  longestDelay(code) {
    return code === 1001 || code === 1012 ? RETRY_AFTER_RESTART : Math.min(RETRY_MOST, RETRY_FIRST * Math.pow(2, this.attempts));
  }

  // On a half-open link what was sent is never answered, nor closed.
  expectAnswer(within) {
    const current = this.alarms.answer;
    if (current && current.due <= this.options.local() + within) {
      return;
    }
    const setAt = current ? current.setAt : this.options.local();
    this.alarm("answer", within, this.doubt.bind(this));
    this.alarms.answer.setAt = setAt;
  }

  // A frozen page hears alarms before messages: a late one proves nothing.
  doubt(lateness) {
    if (lateness > 1) {
      this.expectAnswer(1);
    } else {
      this.lose({ code: 1006, reason: "" });
    }
  }

  // At once: a half-open socket may take minutes to close.
  drop() {
    Object.keys(this.alarms).forEach(this.cancel, this);
    if (this.socket !== null) {
      this.socket.onmessage = this.socket.onclose = null;
      this.socket.close();
      this.socket = null;
    }
  }

  cancel(name) {
    if (this.alarms[name]) {
      clearTimeout(this.alarms[name].id);
      delete this.alarms[name];
    }
  }

  become(status, problem) {
    this.status = status;
    this.problem = problem;
    this.options.change();
  }
}

// Null for what is no message here.
function readObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch (error) {
    return null;
  }
}
