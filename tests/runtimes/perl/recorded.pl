# SPDX-License-Identifier: Apache-2.0
# recorded.pl WORD...: waits in calls of many kinds; says "sub line" of each, innermost first, as caller() has it; if
# the first word is "thread", in another one.
use strict;
use warnings;
use utf8;

my $threads = $ARGV[0] eq 'thread';
$| = 1;
binmode STDOUT, ":utf8";

sub stopped {
	my $text = '';
	for (my $i = 0; my @at = caller $i; $i++) { $text .= "$at[3]\n$at[2] " }
	print "$text\nready\n";
	sysread STDIN, my $byte, 1 while 1;
}

sub recurse { my $n = shift; return $n ? recurse($n - 1) : stopped() }
sub größe_数 { recurse(2) }
sub in_order { größe_数() or $a <=> $b }
sub by_sort { my @s = sort in_order 2, 1 }

package Tied { sub TIESCALAR { bless [] } sub FETCH { main::by_sort() } }
package Sum { use overload '+' => \&plus; sub plus { tie my $v, 'Tied'; my $w = $v } }
package Base { sub new { bless {}, shift } sub method { my $v = bless([], 'Sum') + 1 } }
package Derived { our @ISA = 'Base'; sub method { shift->SUPER::method } sub DESTROY { shift->method } }
package Loads { our $AUTOLOAD; sub AUTOLOAD { undef(my $o = Derived->new) } }

package main;

sub by_block { my @s = sort { eval { Loads->any } or $a <=> $b } 2, 1 }
sub by_regexp { 'a' =~ /a(?{ by_block() })/ }
sub by_replace { my $t = 'a'; $t =~ s/a/by_regexp()/e }
our $closure = do { my $n = 0; sub { $n += by_replace() } };
sub by_string { eval 'BEGIN { $closure->() } 1' }
sub by_signal { local $SIG{USR1} = sub { by_string() }; kill USR1 => $$ }
sub by_warning { local $SIG{__WARN__} = sub { $threads ? by_string() : by_signal() }; warn "now\n" }
sub work { my ($v) = map { by_warning() } 1 }

if ($threads) {
	require threads;
	threads->create(\&work)->join;
} else {
	work();
}
