#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
# chain.pl SECONDS [THREADS]: stacks of all kinds; says its number, and each stack as caller() has it:
# "innermost;its caller@line;...;main@line".  With FORK=1 all of that is of a child.
use strict;
use warnings;

my ($seconds, $threads) = (@ARGV, 0);
my $until = time + $seconds;
my %seen;
$| = 1;
if ($ENV{FORK} and my $child = fork) { waitpid $child, 0; exit }
print "$$\n";

sub burn_perl {
	my $text = 'main::burn_perl';
	for (my $i = 0; my @at = caller $i; $i++) {
		my @up = caller $i + 1;
		last if !@up && $threads;	# main is another thread's
		my $who = @up ? $up[3] : 'main';
		$text .= ";$who\@$at[2]";
	}
	print "$text\n" if !$seen{$text}++;
	return spend();
}
sub spend {
	my $sum = 0;
	for my $i (1 .. 2000) { $sum += $i }
	return $sum;
}

sub recursive {
	my $n = shift;
	return $n ? recursive($n - 1) : burn_perl();
}
sub fibonacci { my $n = shift; return $n < 2 ? burn_perl() : fibonacci($n - 1) + fibonacci($n - 2) }
sub maker { my $add = shift; return sub { burn_perl() + $add } }
sub order { burn_perl(); $a <=> $b }
sub in_order { burn_perl(); return $a <=> $b }
# caller() cannot say what called it
sub spend_format { spend() }
sub jump { goto &recursive }
sub catches { eval { recursive(1) }; burn_perl() }
sub dies { local $SIG{__DIE__} = sub { burn_perl() }; eval { die "so\n" } }
sub warns { local $SIG{__WARN__} = sub { burn_perl() }; warn "so\n" }

package Scalar { sub TIESCALAR { bless [] } sub FETCH { main::burn_perl(); 1 } sub STORE { main::burn_perl() } }
package Hash { sub TIEHASH { bless {} } sub FETCH { eval { main::burn_perl() }; main::burn_perl() } }
package Base { sub new { bless {}, shift } sub method { main::burn_perl() } }
package Derived { our @ISA = 'Base'; sub method { shift->SUPER::method } sub DESTROY { main::burn_perl() } }
package Sum { use overload '+' => sub { main::burn_perl() }, '""' => \&text; sub text { main::burn_perl(); 'text' } }
package Loads { our $AUTOLOAD; sub AUTOLOAD { main::burn_perl() } sub DESTROY { } }

package main;

sub made {	# a module in no file
	my @lines = ("package Made; main::burn_perl();\n", "sub of { main::burn_perl() }\n", "1;\n");
	return sub { $_ = shift @lines; defined $_ };
}

our ($first, $any);
BEGIN {
	($first, $any) = eval { require List::Util; List::Util->import('reduce'); (\&List::Util::first, \&List::Util::reduce) };
}
format STDERR =
@<
spend_format()
.
{ open my $null, '>', '/dev/null'; open STDERR, '>&', $null }

tie my $scalar, 'Scalar';
tie my %hash, 'Hash';
my $closure = maker(1);
my @kinds = (
	sub { recursive(6) },
	sub { fibonacci(3) },
	sub { $closure->() },
	sub { maker(2)->() },
	sub { my @s = sort { burn_perl(); $a <=> $b } 3, 1, 2 },
	sub { my @s = sort { order() } 3, 1, 2 },
	sub { my @s = sort in_order 3, 1, 2 },
	sub { my @s = sort { eval { burn_perl() }; order() } 2, 1 },
	sub { my $v = $scalar; $scalar = 1 },
	sub { my $v = $hash{a} },
	sub { Derived->new->method },
	sub { my $o = bless [], 'Sum'; my $v = $o + 1; $v = "$o" },
	sub { Loads->anything },
	sub { jump(2) },
	\&catches,
	\&dies,
	\&warns,
	sub { my $t = 'a'; $t =~ s/a/burn_perl()/e },
	sub { 'aa' =~ /a(?{ burn_perl() })b/ },
	sub { my @m = map { burn_perl() } 1, 2; my @g = grep { burn_perl() } 1 },
	sub { eval 'burn_perl(); 1' or die },
	sub { eval 'BEGIN { burn_perl() } sub { recursive(1) }->()' },
	sub { local $SIG{USR1} = sub { burn_perl() }; kill 'USR1', $$ if !$threads; 1 },
	sub { write STDERR },
	sub { $first->(sub { burn_perl(); $_ == 2 }, 1, 2) if $first },
	sub { $first->(sub { eval { burn_perl(); 1 } }, 1) if $first },
	sub { $any->(sub { catches() }, 1, 2) if $any },
	sub { delete $INC{'Made.pm'}; local @INC = (\&made); no warnings; require Made; Made->of },
);

sub work { while (time < $until) { $_->() for @kinds } }
if ($threads) {
	require threads;
	my @all = map { threads->create(\&work) } 1 .. $threads;
	$_->join for @all;
} else {
	work();
}
