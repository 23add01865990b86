// SPDX-License-Identifier: Apache-2.0
/*
 * A program of C with two interpreters, one a thread, that calls their subs: directly, and
 * from a sub of its own, which a sub of Perl has called.
 */
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>
#include <pthread.h>

static const char code[] =
	"sub spend { my $x = 0; for my $i (1 .. 5000) { $x += $i } $x }\n"
	"sub again { spend() }\n"
	"sub called { back() }\n";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void call(pTHX_ const char *name)
{
	dSP;

	ENTER;
	SAVETMPS;
	PUSHMARK(SP);
	call_pv(name, G_DISCARD | G_NOARGS);
	FREETMPS;
	LEAVE;
}

static void back_from_perl(pTHX_ CV *cv)
{
	(void)cv;
	call(aTHX_ "again");
}

static void *work(void *ignored)
{
	char *args[] = { "embed", "-e", (char *)code, NULL };
	PerlInterpreter *my_perl;

	pthread_mutex_lock(&lock);
	my_perl = perl_alloc();
	PERL_SET_CONTEXT(my_perl);
	perl_construct(my_perl);
	perl_parse(my_perl, NULL, 3, args, NULL);
	newXS("main::back", back_from_perl, "embed.c");
	pthread_mutex_unlock(&lock);
	for (;;)
		call(aTHX_ "called");
	return ignored;
}

int main(int argc, char **argv, char **env)
{
	pthread_t other;

	PERL_SYS_INIT3(&argc, &argv, &env);
	pthread_create(&other, NULL, work, NULL);
	work(NULL);
}
