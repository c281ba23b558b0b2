"""A server that answers as a test says, and functions for a page that is connected to such a server."""

import json

import pytest

NOW = 1764480000.25
HELLO = {"event": "hello", "server": "timersync/0", "protocol": 1, "role": "control", "now": NOW}


RECORD_TEXTS = """
window.seen = [];
new MutationObserver(() => {
    const digits = document.querySelector('[data-digits]');
    if (digits !== null && digits.textContent !== '') { seen.push(digits.textContent); }
}).observe(document, {subtree: true, childList: true, characterData: true});
"""


# The total time, in milliseconds, for which the page was ready to run and did not get the processor.
STALLS = """
window.stalled = 0;
(() => {
    const now = performance.now.bind(performance);
    let last = now();
    setInterval(() => { const late = now() - last - 50; stalled += Math.max(0, late); last += late + 50; }, 50);
})();
"""


class ScriptedServer:
    """Answers as the protocol says, unless the test sets another answer."""

    def __init__(self):
        self.epoch = "first"
        self.states = []
        self.answers = {}
        self.connections = []
        self.requests = []
        self.hello = {}

    def accept(self, socket):
        self.connections.append(socket)
        socket.on_message(lambda text: self.hear(json.loads(text)))
        self.say(**{**HELLO, "epoch": self.epoch, **self.hello})

    def hear(self, request):
        self.requests.append(request)
        command = request["command"]
        if command in self.answers:
            self.answers[command](request)
        elif command == "sync":
            # A local clock of 0 corresponds to NOW: the messages take no time.
            instant = NOW + request["clientTime"]
            self.reply(request, clientTime=request["clientTime"], receivedAt=instant, sentAt=instant)
        elif command == "subscribe":
            self.reply(request)
            self.say(event="snapshot", cause="subscribed", timers=self.states)
        else:
            self.reply(request)

    def say(self, **message):
        self.connections[-1].send(json.dumps(message))

    def reply(self, request, **fields):
        """Sends a successful reply, with the state of the request's timer, as the real server does."""
        known = [state for state in self.states if state["timer"] == request.get("timer")]
        self.say(reply=request["id"], ok=True, **({"timer": known[0]} if known else {}), **fields)

    def refuse(self, request, code, message, **fields):
        self.say(reply=request["id"], ok=False, error={"code": code, "message": message, "retryable": False}, **fields)

    def snapshot(self, state, cause="updated"):
        self.say(event="snapshot", cause=cause, timers=[state])

    def sent(self, command):
        return [request for request in self.requests if request["command"] == command]


def state(**fields):
    return {
        "timer": "kitchen", "revision": 5, "status": "paused", "type": "timer", "duration": 300, "elapsedTime": 0,
        "time": 300, "startDate": NOW, "stopDate": None, "pausePeriods": [], "lastElapsedTimeCalculatedAt": NOW,
        "addedTime": 0, "atZero": "overtime", "title": None, "warnings": [], **fields,
    }


def hold(page):
    """From now on time passes on the page only by `let_pass`; the page must have been opened with `hand_turned`."""
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 1)
    # The answer takes no time at all, so the page knows the server's clock to the microsecond.
    page.evaluate("document.dispatchEvent(new Event('resume'))")
    wait_until(page, lambda: page.evaluate("timersync.roundTrip < 1e-6"))
    let_pass(page, 3)


def let_pass(page, seconds):
    """Lets time pass in steps, so that requests of the page are answered within the page's own time."""
    left = round(seconds * 1000)
    while left > 0:
        step = min(left, 1000)
        page.clock.run_for(step)
        left -= step


def server_now(page):
    """The page's estimate of the server's time."""
    return page.evaluate("performance.now() / 1000 + timersync.offset")


def knows_the_clock(page, within):
    """Waits until the page knows the server's clock to half of `within` seconds.
    (Playwright's own `wait_for_function` would need a looser page policy.)"""
    wait_until(page, lambda: page.evaluate(
        "(within) => Boolean(window.timersync) && timersync.isSynced && timersync.roundTrip < within", within))


def digits(page, name="kitchen"):
    return page.locator(f'[data-digits][data-timer="{name}"]')


def wait_until(page, happened, seconds=20):
    for _ in range(int(seconds * 20)):
        if happened():
            return
        page.wait_for_timeout(50)
    pytest.fail("it never happened")
