"""Twenty kills at random instants: the history is what a model says it has to be."""

import harness


def test_twenty_kills(capsys):
    """With eight clients: nothing answered is lost, nothing is done twice, and each crossing is told once."""
    options = harness.parse_options(["--kills", "20", "--seconds-between", "0.5"])

    verdict = harness.run(options)

    figures = f"seed {options.seed}: {verdict.figures(options.kills, options.clients)}"
    with capsys.disabled():
        print(f"\n{figures}")
    assert not verdict.violations, "\n\n".join([figures, *verdict.violations[:3]])
    assert verdict.answered > 500 and verdict.crossings > 20, f"too little happened to say anything: {figures}"
    # That a kill falls into the moment between the disk and the socket is rare.
    assert verdict.untold + verdict.told_again <= 8, figures
