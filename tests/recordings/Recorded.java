// SPDX-License-Identifier: Apache-2.0

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * What recordings of JVMs are of: calls of all kinds, one in the other, until the innermost
 * waits for standard input, and threads that wait or run at other places. For JDK 8 and
 * later; record_java.py says with which flags, and what is interpreted, compiled, inlined.
 */
public class Recorded {
	static final int C1 = 1500, C2 = 20000; // calls until that compiler has been here
	static final FileInputStream IN = new FileInputStream(FileDescriptor.in);
	static final Object LOCK = new Object();
	static volatile boolean stop;
	static volatile int running;
	static long turns;

	interface Step {
		int go() throws Throwable;
	}

	/* Three kinds, so that which one is called is known only when it is. */
	static class One implements Step {
		public int go() {
			return 1;
		}
	}

	static class Two implements Step {
		public int go() {
			return 2;
		}
	}

	static class Three implements Step {
		public int go() {
			return 3;
		}
	}

	static final Step[] CHEAP = { new One(), new Two(), new Three() };

	/* A layer of the chain: calls the next one. */
	interface Layer {
		int call(Step next) throws Throwable;
	}

	static void warm(int times, Layer layer) throws Throwable {
		for (int i = 0; i < times; i++)
			layer.call(CHEAP[i % 3]);
	}

	// --- compiled by C2, inlined

	static int reads() throws IOException {
		return IN.read();
	}

	static int c2(Step next) throws Throwable {
		int x = 3;

		x += inlinedOnce(next, x);
		return x;
	}

	static int inlinedOnce(Step next, int x) throws Throwable {
		x *= 2;
		return größe(next) + x;
	}

	static int größe(Step next) throws Throwable {
		return next.go() + 1;
	}

	static int recurse(int n, Step next) throws Throwable {
		return n == 0 ? next.go() : recurse(n - 1, next) + 1;
	}

	/* Which method() that is is known as long as there is one. */
	static class Base {
		int method(Step next) throws Throwable {
			return next.go() + 1;
		}
	}

	static final Base BASE = new Base();

	static int deoptimized(Step next) throws Throwable {
		return BASE.method(next) + 2;
	}

	/* By a handle that is not constant; deoptimized as well, which for such calls is
	 * another entry. */
	static MethodHandle handle;

	static int byHandle(Step next) throws Throwable {
		return next.go() + 1;
	}

	static int handles(Step next) throws Throwable {
		return BASE.method(CHEAP[0]) + (int) handle.invokeExact(next);
	}

	static class Other extends Base {
		int method(Step next) {
			return 0;
		}
	}

	/* The loop is compiled while it runs. */
	static int replaced(Step last) throws Throwable {
		Step[] steps = { CHEAP[0], CHEAP[1], CHEAP[2], last, last, last };
		int x = 0;

		for (int i = 0; i <= 200000; i++)
			x += steps[i % 3 + 3 * (i / 200000)].go();
		return x;
	}

	// --- compiled by C1

	static int c1(Step next) throws Throwable {
		int x = 2;

		if (next == null)
			x = 7;
		x += inlinedByC1(next);
		return x;
	}

	static int inlinedByC1(Step next) throws Throwable {
		return next.go() + 5;
	}

	// --- interpreted

	static int last() throws Throwable {
		FileOutputStream out = new FileOutputStream(FileDescriptor.out);

		while (Thread.activeCount() < 7 || running < 4)
			Thread.sleep(10);
		Thread.sleep(300);
		out.write("ready\n".getBytes("US-ASCII"));
		return reads();
	}

	static int interpreted(Step next) throws Throwable {
		int x = 1;

		if (x > 1)
			x += 2;
		for (int i = 0; i < 2; i++)
			x *= 3;


		x += next.go();
		return x;
	}

	/* Another class of the same name of a method is loaded below compiled code. */
	static int loads(Step next) throws Throwable {
		new Other().method(null);
		return next.go();
	}

	static class Late {
		static Step next;

		static class Initializer {
			static int x = runs();

			static int runs() {
				try {
					return next.go();
				} catch (Throwable e) {
					return 0;
				}
			}
		}
	}

	/* The VM calls back. */
	static int initializes(Step next) throws Throwable {
		Late.next = next;
		return Late.Initializer.x;
	}

	public static int reflected(Step next) throws Throwable {
		return next.go();
	}

	static int reflects(Step next) throws Throwable {
		Method m = Recorded.class.getMethod("reflected", Step.class);

		return (Integer) m.invoke(null, next);
	}

	static int privileged(Step next) {
		return AccessController.doPrivileged((PrivilegedAction<Integer>) () -> {
			try {
				return next.go();
			} catch (Throwable e) {
				return 0;
			}
		});
	}

	static int sorts(Step next) {
		Integer[] two = { 2, 1 };

		Arrays.sort(two, (a, b) -> {
			try {
				return next.go();
			} catch (Throwable e) {
				return 0;
			}
		});
		return two[0];
	}

	static int holds(Step next) throws Throwable {
		synchronized (LOCK) {
			thread("blocked", () -> locks(CHEAP[0]));
			return next.go();
		}
	}

	// --- other threads

	static int locks(Step next) throws Throwable {
		synchronized (LOCK) {
			return next.go() + 1;
		}
	}

	static int parks() {
		while (!stop)
			LockSupport.park();
		return 0;
	}

	static int spins() {
		running++;
		while (!stop) turns++;
		return 0;
	}

	/* Met where its frame is not made yet. */
	static long enters(long x) {
		return x / (turns | 1) + 3;
	}

	static int calls() {
		running++;
		while (!stop) turns += enters(turns);
		return 0;
	}

	static int spinsInterpreted() {
		running++;
		while (!stop) turns++;
		return 0;
	}

	/* Of a virtual thread: when it comes back to the stack most of its callers stay in
	 * the heap. */
	static int sleeps(int n) throws Throwable {
		if (n > 0)
			return sleeps(n - 1) + 1;
		Thread.sleep(20);
		return spinsVirtual();
	}

	static int spinsVirtual() {
		while (!stop) turns++;
		return 0;
	}

	static void virtual(Step what) throws Throwable {
		Runnable r = () -> {
			try {
				what.go();
			} catch (Throwable e) {
				e.printStackTrace();
			}
		};

		try {
			Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
		} catch (NoSuchMethodException e) {
			// before 21
		}
	}

	static void thread(String name, Step what) {
		Thread t = new Thread(() -> {
			try {
				what.go();
			} catch (Throwable e) {
				e.printStackTrace();
			}
		}, name);

		t.setDaemon(true);
		t.start();
	}

	public static void main(String[] args) throws Throwable {
		warm(C2, next -> reads());
		warm(C2, Recorded::c2);
		warm(C2, next -> recurse(4, next));
		warm(C2, Recorded::deoptimized);
		handle = MethodHandles.lookup().findStatic(Recorded.class, "byHandle",
				MethodType.methodType(int.class, Step.class));
		warm(C2, Recorded::handles);
		warm(C2, Recorded::locks);
		warm(C1, Recorded::c1);
		thread("parked", Recorded::parks);
		thread("spins", Recorded::spins);
		thread("calls", Recorded::calls);
		thread("calls too", Recorded::calls);
		thread("interpreted", Recorded::spinsInterpreted);
		virtual(() -> sleeps(200));
		replaced(() ->
			privileged(() ->
			sorts(() ->
			c2(() ->
			initializes(() ->
			c1(() ->
			deoptimized(() ->
			handles(() ->
			loads(() ->
			reflects(() ->
			recurse(4, () ->
			holds(() ->
			interpreted(() -> last())))))))))))));
	}
}
