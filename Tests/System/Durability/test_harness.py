"""Ends at random instants: the history is what a model says it has to be."""

import pytest

import harness


def judge(capsys, *words: str):
    options = harness.parse_options(list(words))

    verdict = harness.run(options)

    figures = f"seed {options.seed}: {verdict.figures(options.kills, options.clients)}"
    with capsys.disabled():
        print(f"\n{figures}")
    assert not verdict.violations, "\n\n".join([figures, *verdict.violations[:3]])
    assert verdict.answered > 500 and verdict.crossings > 20, f"too little happened to say anything: {figures}"
    # That a kill falls into the moment between the disk and the socket is rare.
    assert verdict.untold + verdict.told_again <= 0.4 * options.kills, figures


def test_twenty_ends(capsys):
    """With eight clients: nothing answered is lost, nothing is done twice, and each crossing is sent once."""
    judge(capsys, "--kills", "20", "--seconds-between", "0.5")


@pytest.mark.long
def test_two_hundred_ends(capsys):
    """The same, for as long as it takes to meet what is rare."""
    judge(capsys, "--kills", "200")
