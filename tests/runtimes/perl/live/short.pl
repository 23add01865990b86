# SPDX-License-Identifier: Apache-2.0
# A life of some 50 ms, most of it in inner().
sub inner { my $x = 0; while (times < 0.04) { $x += $_ for 1 .. 500 } $x }
sub outer { inner() }
outer();
