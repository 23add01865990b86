# SPDX-License-Identifier: Apache-2.0
"""chance - how far a count of samples may be off by chance alone

All comparisons of one run of all tests together fail where nothing is wrong with
probability CHANCE at most: each of them has an equal part of that, ALPHA, and bounds are
exact for independent samples.  `make test` makes some 600 (130 of cases' stacks, 60 of the
adversary's, 150 of Java's and Python's, 30 of Go's, 230 of others); test_chance.py checks the
bounds.
"""
import math

from live import say

CHANCE = 1e-3
COMPARISONS = 800
ALPHA = CHANCE / COMPARISONS
CHANGE = 0.05		# of rates and shares under attack, at most


def _log_binomial(n, share, k):
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) +
            k * math.log(share) + (n - k) * math.log1p(-share))


def _log_poisson(expected, k):
    return k * math.log(expected) - expected - math.lgamma(k + 1)


def _first(log_probability, last, alpha):
    """The first k of 0 to last for which 0 to k together have more than this probability."""
    below = 0.0
    for k in range(last + 1):
        below += math.exp(log_probability(k))
        if below > alpha:
            return k
    return last


def least(share, n, alpha=ALPHA):
    """The fewest of n samples that are so where this share of all is: fewer come with probability alpha at most."""
    if share <= 0 or n <= 0:
        return 0
    if share >= 1:
        return n
    return _first(lambda k: _log_binomial(n, share, k), n, alpha)


def fewest(expected, alpha=ALPHA):
    """Of events that come independently: fewer than that come with probability alpha at most."""
    if expected <= 0:
        return 0
    return _first(lambda k: _log_poisson(expected, k), math.ceil(expected), alpha)


def most(expected, alpha=ALPHA):
    """Of events that come independently: more than that come with probability alpha at most."""
    if expected <= 0:
        return 0
    above, k = 0.0, math.ceil(expected + 20 * math.sqrt(expected) + 40)	# beyond: nothing that counts
    while above <= alpha:
        above += math.exp(_log_poisson(expected, k))
        k -= 1
    return k + 1


def share_of(what, stacks, want, share, minimum):
    """Of [(frames, count)], which are so many at least, this share is as wanted, but for chance."""
    total = sum(n for _, n in stacks)
    good = sum(n for f, n in stacks if want(f))
    wanted = least(share, total)
    say(f"{what}: {good} of {total}")
    if total >= minimum and good >= wanted:
        return
    for f, n in sorted(((f, n) for f, n in stacks if not want(f)), key=lambda x: -x[1])[:5]:
        say(f"{n} {';'.join(f)}")
    raise AssertionError(f"{what}: {good} of {total}, at least {wanted} of {minimum} or more wanted")


def share_not_less(what, good, n, before):
    """Of n samples at most CHANGE fewer are good than the share before says, which is of many more samples."""
    wanted = least((1 - CHANGE) * before, n)
    assert n and good >= wanted, f"{what}: {before:.3f} before, {good} of {n} now, at least {wanted} wanted"


def clump(hz):
    """The variance of a count of samples by its mean, at most: all samples that a CPU takes in a second have one
    distance, which is anywhere within a fifth of the asked one (loaderd/sampling.c)."""
    return 1 + hz * 0.4 ** 2 / 12


def rate_not_less(what, now, before, hz):
    """At most CHANGE fewer samples for each second of CPU time than before; more than hz are no measure.
    now, before: (samples, CPU time in s).  If both rates are the same, each of all samples is of now with
    the probability of its part of the time; they come in clumps."""
    (n, cpu), (n_before, cpu_before) = now, before
    n_before = min(n_before, hz * cpu_before)
    part = (1 - CHANGE) * cpu / ((1 - CHANGE) * cpu + cpu_before)
    wanted = clump(hz) * least(part, round((n + n_before) / clump(hz)))
    assert n >= wanted, (f"{what}: {n_before:.0f} samples in {cpu_before:.2f} s before, {n} in {cpu:.2f} s now, "
                         f"at least {wanted:.0f} wanted")
