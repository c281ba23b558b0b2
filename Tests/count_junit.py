"""Prints how many tests of a JUnit XML report passed and how many did not; a skipped one did not."""

import sys
import xml.etree.ElementTree as ElementTree


def main(path: str) -> None:
    good = bad = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if any(case.find(kind) is not None for kind in ("failure", "error", "skipped")):
            bad += 1
        else:
            good += 1
    print(good, bad)


main(sys.argv[1])
