#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bounds of chance.py are those of the distributions, and all tests together have one budget."""
import math
import subprocess
from fractions import Fraction

from chance import ALPHA, CHANCE, COMPARISONS, clump, fewest, least, most, rate_not_less, share_not_less
from live import ROOT, tap


def binomial_below(n, share, k):
    """P(X < k), in whole numbers."""
    p = Fraction(share)
    return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k))


def poisson_below(expected, k):
    return math.fsum(math.exp(i * math.log(expected) - expected - math.lgamma(i + 1)) for i in range(k))


def exact_binomial():
    """least() is the largest count of which fewer come with probability alpha at most"""
    for share in (Fraction(1, 2), Fraction(99, 100), Fraction(9, 10), Fraction(1, 50)):
        for n in (1, 7, 60, 400):
            for alpha in (ALPHA, 0.013, 0.3):
                k = least(float(share), n, alpha)
                assert binomial_below(n, share, k) <= alpha, (share, n, k)
                assert binomial_below(n, share, k + 1) > alpha, (share, n, k)


def exact_poisson():
    """fewest() and most() likewise, on both sides"""
    for expected in (0.5, 3, 17.1, 130, 5000):
        for alpha in (ALPHA, 0.013, 0.3):
            low, high = fewest(expected, alpha), most(expected, alpha)
            assert poisson_below(expected, low) <= alpha < poisson_below(expected, low + 1), (expected, low)
            above = math.fsum(math.exp(i * math.log(expected) - expected - math.lgamma(i + 1))
                              for i in range(high, high + 400))
            last = math.exp(high * math.log(expected) - expected - math.lgamma(high + 1))
            assert above - last <= alpha < above, (expected, high)


def ends():
    """nothing is expected, and all are"""
    assert least(0, 100) == least(0.5, 0) == fewest(0) == most(0) == 0
    assert least(1, 100) == 100


def refused(call, *words):
    try:
        call(*words)
    except AssertionError:
        return True
    return False


def comparisons():
    """what is the same passes; half as many of few samples do not, nor three quarters of many"""
    rate_not_less("rate", (1900, 4), (3800, 8), 499)
    rate_not_less("rate", (1996, 4), (9000, 8), 499)	# no more than 499 Hz count before
    assert refused(rate_not_less, "rate", (1000, 4), (3800, 8), 499)
    assert refused(rate_not_less, "rate", (21000, 60), (7600, 16), 499)
    share_not_less("share", 195, 200, 0.99)
    assert refused(share_not_less, "share", 150, 200, 0.99)
    assert refused(share_not_less, "share", 0, 0, 0.99)


def budget():
    """the parts make up the budget, and no test has a bound of its own"""
    assert ALPHA * COMPARISONS <= CHANCE * (1 + 1e-9)
    found = subprocess.run(["git", "-C", ROOT, "grep", "-l", "sqrt", "--", "tests/live/*.py"],
                           capture_output=True, text=True)
    if found.returncode > 1:
        return	# no repository here
    own = set(found.stdout.split()) - {f"tests/live/{x}.py" for x in ("chance", "test_chance")}
    assert not own, own


def clumps():
    """the variance of a count is that of distances within a fifth of the asked one"""
    rates = [400 * (0.8 + 0.4 * (i + 0.5) / 1000) for i in range(1000)]
    mean = sum(rates) / len(rates)
    variance = sum((r - mean) ** 2 for r in rates) / len(rates)
    assert abs(clump(400) - (1 + variance / mean)) < 0.01


tap([(fn.__doc__, fn) for fn in (exact_binomial, exact_poisson, ends, comparisons, clumps, budget)])
