// SPDX-License-Identifier: Apache-2.0
/* The C that HotspotLoad calls: it burns, or calls Java. */
#include <jni.h>
#include <stdint.h>

static volatile jlong sink;

__attribute__((noinline)) static jlong burn_in_c(jint turns)
{
	jlong x = turns;

	for (jint i = 0; i < turns; i++)
		x += (x >> 3) ^ (jlong)((uint64_t)i * (uint64_t)x);
	return x;
}

JNIEXPORT jlong JNICALL Java_HotspotLoad_fromC(JNIEnv *env, jclass class, jint turns)
{
	(void)env, (void)class;
	sink = burn_in_c(turns);
	return sink;
}

__attribute__((noinline)) static jlong call_back(JNIEnv *env, jclass class, jint turns)
{
	jmethodID m = (*env)->GetStaticMethodID(env, class, "back", "(I)J");

	sink = (*env)->CallStaticLongMethod(env, class, m, turns);
	return sink;
}

JNIEXPORT jlong JNICALL Java_HotspotLoad_throughC(JNIEnv *env, jclass class, jint turns)
{
	sink = call_back(env, class, turns) + 1;
	return sink;
}
