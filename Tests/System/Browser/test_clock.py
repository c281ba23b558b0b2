"""The page's estimate of the server's clock, with local clocks that the test sets."""

import pytest

HAND_TURNED = """
([steps]) => import('/client/clock.js').then(({ServerClock}) => {
    let monotonic = 100, wall = 5000;
    const clock = new ServerClock(() => monotonic, () => wall);
    const pass = (seconds) => { monotonic += seconds; wall += seconds; };
    const jump = (seconds) => { wall += seconds; };
    // An exchange with a server that is `offset` ahead; `up` and `down` are the two ways.
    const exchange = (offset, up, down) => {
        const sent = monotonic;
        pass(up);
        const there = monotonic + offset;
        pass(down);
        clock.addExchange(sent, there, there, monotonic);
    };
    return eval(steps);
})
"""


@pytest.fixture
def clock(browser, web_files):
    """Runs steps on a hand-turned clock and gives the value of the last one."""
    page = browser.new_page()
    page.goto(web_files + "/favicon.svg")
    yield lambda steps: page.evaluate(HAND_TURNED, [steps])
    page.close()


def test_hello_is_good_enough_until_the_first_exchange(clock):
    assert clock("clock.startEpoch('a', 1100); [clock.offset, clock.isSynced]") == [1000, False]
    assert clock("clock.startEpoch('a', 1100); exchange(1003, 0.1, 0.1); clock.offset") == pytest.approx(1003)
    assert clock(
        "exchange(1003, 0.1, 0.1); clock.startEpoch('a', 1100); clock.startEpoch('a', 1); clock.offset"
    ) != pytest.approx(1003)


def test_nothing_is_known_before_the_server_has_spoken(clock):
    assert clock("[clock.offset, clock.roundTrip, clock.isSynced]") == [None, None, False]


def test_the_smallest_round_trip_wins_whenever_it_came(clock):
    steps = (
        "clock.startEpoch('a', 0); exchange(1000, 0.3, 0.01); exchange(1000, 0.002, 0.002); "
        "exchange(1000, 0.01, 0.4); pass(9); ")

    # An exchange from nine seconds ago counts for a little less, because cheap clocks drift apart.
    assert clock(steps + "[clock.offset, clock.roundTrip]") == pytest.approx([1000, 0.004], abs=0.0005)


def test_a_sample_of_long_ago_no_longer_counts(clock):
    steps = "clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); pass(200); exchange(1000.2, 0.05, 0.05); "

    assert clock(steps + "clock.offset") == pytest.approx(1000.2)


@pytest.mark.parametrize("sleep", [12, 200, 3600])
def test_an_exchange_over_a_sleep_in_which_the_clock_went_on_counts_for_nothing(clock, sleep):
    """Such an exchange would be wrong by half of the sleep, so the one before it counts, however old that is."""
    offset, error = clock(
        f"""clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); exchange(1000, 0.001, {sleep});
        [clock.offset, clock.roundTrip]""")

    assert (offset, error) == pytest.approx((1000, 0.002), abs=0.0001)


def test_a_small_correction_is_slewed_and_never_turns_time_back(clock):
    instants = clock(
        """clock.startEpoch('a', 0); exchange(1000, 0.02, 0.02); exchange(999.97, 0.001, 0.001);
        const instants = [];
        for (let step = 0; step < 200; step += 1) { instants.push(clock.now()); pass(0.01); }
        instants.concat([clock.offset])"""
    )

    assert instants[-1] == pytest.approx(999.97)
    assert all(later > earlier for earlier, later in zip(instants[:-1], instants[1:-1]))
    assert instants[1] - instants[0] == pytest.approx(0.01, rel=0.06)


def test_a_large_correction_is_a_step(clock):
    steps = "clock.startEpoch('a', 0); exchange(1000, 0.2, 0.2); exchange(999, 0.001, 0.001); "

    assert clock(steps + "[clock.offset, clock.isSlewing]") == [pytest.approx(999), False]


def test_another_epoch_throws_the_offset_away(clock):
    steps = "clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); clock.startEpoch('b', monotonic + 7); "

    assert clock(steps + "[clock.offset, clock.isSynced]") == [pytest.approx(7), False]


def test_the_same_epoch_keeps_it(clock):
    steps = "clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); clock.startEpoch('a', monotonic + 7); "

    assert clock(steps + "[clock.offset, clock.isSynced]") == [pytest.approx(1000), True]


@pytest.mark.parametrize("seconds", [2, -2, 3600])
def test_a_wall_clock_that_moves_alone_makes_it_doubt(clock, seconds):
    steps = f"clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); pass(5); jump({seconds}); "

    assert clock(steps + "[clock.noticeSleep(), clock.isSynced, clock.noticeSleep()]") == [True, False, False]


def test_a_little_drift_is_no_sleep(clock):
    steps = "clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); jump(0.9); pass(5); "

    assert clock(steps + "[clock.noticeSleep(), clock.isSynced]") == [False, True]


def test_nonsense_is_not_learnt(clock):
    steps = "clock.startEpoch('a', 0); clock.addExchange(1, undefined, null, 2); clock.addExchange(1, NaN, 2, 3); "

    assert clock(steps + "clock.isSynced") is False


def test_the_quickest_ways_there_and_back_need_not_be_of_one_exchange(clock):
    steps = "clock.startEpoch('a', 0); exchange(1000, 0.150, 0.005); exchange(1000, 0.005, 0.150); "

    assert clock(steps + "[clock.offset, clock.roundTrip]") == pytest.approx([1000, 0.010], abs=0.0001)


def test_what_was_asked_before_a_sleep_is_not_learnt(clock):
    steps = """clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); const sent = monotonic; pass(1); jump(3600);
        clock.noticeSleep(); clock.addExchange(sent, sent + 1000, sent + 1000, monotonic); """

    assert clock(steps + "clock.isSynced") is False
    assert clock(steps + "exchange(4600, 0.001, 0.001); [clock.isSynced, clock.offset]") == [True, pytest.approx(4600)]


def test_a_sleep_that_nobody_can_confirm_is_assumed(clock):
    steps = (
        "clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); jump(3600); clock.noticeSleep(); clock.assumeSleep(); "
    )

    assert clock(steps + "clock.offset") == pytest.approx(4600)
    assert clock(steps + "clock.assumeSleep(); clock.offset") == pytest.approx(4600), "twice"
    assert clock(steps.replace("3600", "-3600") + "clock.offset") == pytest.approx(1000), "set back"


def test_a_sleep_that_hello_has_told_of_is_not_assumed_on_top(clock):
    steps = """clock.startEpoch('a', 0); exchange(1000, 0.001, 0.001); jump(3600); clock.noticeSleep();
        clock.startEpoch('a', monotonic + 4600); clock.assumeSleep(); """

    assert clock(steps + "clock.offset") == pytest.approx(4600)
