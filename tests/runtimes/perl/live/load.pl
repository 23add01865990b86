# SPDX-License-Identifier: Apache-2.0
# load.pl SECONDS: says a line, and burns CPU time at the end of a chain that is known (tests/runtimes/perl/versions).
use strict;
use warnings;

my $until = time + $ARGV[0];
$| = 1;

package Work { sub method { main::burn() } }

sub burn {
	print "burns\n";
	my $x = 0;
	while (time < $until) { $x += $_ for 1 .. 1000 }
	return $x;
}
sub order { Work->method; return $a <=> $b }
sub by_sort { my @sorted = sort order 2, 1 }	# Perl called by C called by Perl
sub chain { by_sort() }
chain();
