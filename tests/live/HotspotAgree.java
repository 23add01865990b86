// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Random stacks of Java's kinds of calls (HotspotKinds), and what the VM itself says of
 * each: HotspotAgree PLACES MS WARM FILE [SEED], with -XX:+ShowHiddenFrames, JDK 8 or
 * later. Each chain is called WARM times, so that it is compiled; then once more, and
 * burns CPU time for some milliseconds at its end. FILE gets for each of these moments
 * its first and last (ns since 1970), the thread's number and the stack, innermost first: what a
 * Throwable that was made there says.
 */
public class HotspotAgree {
	static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
	static final List<Moment> moments = new ArrayList<>();
	static long sink;

	/** A chain: the numbers of kinds, and how far it is. */
	public static final class Plan {
		final int[] kinds;
		final int place;
		final Random chance;
		int at;
		boolean warm;
		int ms;

		Plan(int place, int[] kinds, int ms) {
			this.place = place;
			this.kinds = kinds;
			this.ms = ms;
			chance = new Random(place);
		}
	}

	static class Moment {
		final String tid = ownTid();
		StackTraceElement[] stack;
		long begin, end;
	}

	/** The next call of the chain. */
	public static long deeper(Plan p) {
		return p.at < p.kinds.length ? HotspotKinds.call(p.kinds[p.at++], p) : leaf(p);
	}

	static long leaf(Plan p) {
		return p.warm ? 1 : spin(p, tell());
	}

	static String ownTid() {
		try {
			return Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString();
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	/* What the VM says of the caller. */
	static Moment tell() {
		StackTraceElement[] all = new Throwable().getStackTrace();
		Moment m = new Moment();

		m.stack = Arrays.copyOfRange(all, 1, all.length);
		synchronized (moments) {
			moments.add(m);
		}
		return m;
	}

	static long spin(Plan p, Moment m) {
		long x = 0;

		long cpu = CPU.getCurrentThreadCpuTime(), most = 40L * p.ms;

		m.begin = m.end = System.nanoTime();
		/* others may have the CPU meanwhile */
		while (CPU.getCurrentThreadCpuTime() - cpu < p.ms * 1000000L &&
		       m.end - m.begin < most * 1000000) {
			x += work(p.place);
			m.end = System.nanoTime();
		}
		return x;
	}

	static long work(int place) {
		switch (place % 8) {
		case 0: return numbers(3000);
		case 1: return strings(40);
		case 2: return arrays(40);
		case 3: return divisions(1000);
		case 4: return exceptions(40);
		case 5: return transitions(100);
		case 6: return dispatch(500);
		default: return natives(40);
		}
	}

	static long numbers(int turns) {
		long x = turns;
		for (int i = 0; i < turns; i++)
			x += (x >>> 3) ^ i * x;
		return x;
	}

	static long divisions(int turns) {
		double x = turns;
		for (int i = 1; i < turns; i++)
			x += Math.sqrt(x) / i;
		return (long) x;
	}

	static String a = "a string that is equal up to its end, nearly: a", b = "a string that is equal up to its end, nearly: b";

	static long strings(int turns) {
		long x = 0;
		for (int i = 0; i < turns; i++)
			x += a.compareTo(b) + a.indexOf("nearly") + (a.equals(b) ? 1 : 2) + (a + i).hashCode();
		return x;
	}

	static int[] numbers = new int[500];

	static long arrays(int turns) {
		long x = 0;
		for (int i = 0; i < turns; i++) {
			int[] copy = numbers.clone();
			Arrays.fill(copy, i);
			System.arraycopy(copy, 1, numbers, 0, 499);
			x += Arrays.hashCode(copy);
		}
		return x;
	}

	static final IllegalStateException READY = new IllegalStateException("of a test");

	static void thrower(int left) {
		if (left == 0)
			throw READY;
		if (left == 5)
			throw new IllegalStateException("of a test");
		thrower(left - 1);
	}

	static long exceptions(int turns) {
		long x = 0;
		for (int i = 0; i < turns; i++) {
			try {
				thrower(i % 4 + i % 2);
			} catch (IllegalStateException e) {
				x++;
			}
		}
		return x;
	}

	/* The test says that these are never compiled: calls from compiled code, and back. */
	static int apart() {
		return 1;
	}

	static int apartOne(int a) {
		return back(a) + 1;
	}

	long apartFour(int a, long b, double c, Object d) {
		int e = a + 1, f = e + 1;
		return a + b + (long) c + e + f;
	}

	static int apartMany(int a, int b, long c, double d, Object e, int f, int g, int h, long i, double j) {
		return back(a + b) + f + g + h;
	}

	static int back(int a) {
		return a % 7 == 0 ? apart() : a + 1;
	}

	static long transitions(int turns) {
		HotspotAgree self = new HotspotAgree();
		long x = 0;
		for (int i = 0; i < turns; i++)
			x += apart() + apartOne(i) + self.apartFour(i, x, i, self) + apartMany(i, 2, x, i, self, 6, 7, 8, x, i);
		return x;
	}

	interface Shape {
		int corners(int a);
	}

	static class Three implements Shape {
		public int corners(int a) {
			return a + 3;
		}

		public int sides(long a, int b) {
			return b + 3;
		}
	}

	static class Four extends Three {
		public int corners(int a) {
			return a + 4;
		}

		public int sides(long a, int b) {
			return b + 4;
		}
	}

	static class Five extends Three {
		public int corners(int a) {
			return a * 5;
		}

		public int sides(long a, int b) {
			return b * 5;
		}
	}

	static class Six implements Shape {
		public int corners(int a) {
			return a + 6;
		}
	}

	static final Shape[] SHAPES = { new Three(), new Four(), new Five(), new Six() };
	static final Three[] THREES = { new Three(), new Four(), new Five() };

	static long dispatch(int turns) {
		int x = 0;
		for (int i = 0; i < turns; i++)
			x += SHAPES[i % 4].corners(x) + THREES[i % 3].sides(i, x);
		return x;
	}

	static synchronized int counted(int a) {
		return a + 1;
	}

	static long natives(int turns) {
		long x = 0;
		for (int i = 0; i < turns; i++) {
			Object o = new Object();
			x += System.identityHashCode(o) + Thread.currentThread().getId() + counted(i);
			x += HotspotAgree.class.getModifiers() + Math.round(StrictMath.sin(i) * i);
			synchronized (o) {
				x += o.hashCode();
			}
		}
		return x;
	}

	/** Call f in a thread of its own. */
	static void inThread(Runnable f) {
		Thread t = new Thread(f);
		t.start();
		HotspotKinds.join(t);
	}

	static void chain(int place, int ms, int warm, Random chance) {
		int[] kinds = new int[2 + chance.nextInt(9)];
		for (int i = 0; i < kinds.length; i++)
			kinds[i] = chance.nextInt(HotspotKinds.KINDS);
		Plan p = new Plan(place, kinds, ms);
		for (int i = 0; i <= warm; i++) {
			p.at = 0;
			p.warm = i < warm;
			sink += deeper(p);
		}
	}

	/* ns since 1970, less System.nanoTime(): at a moment when the former's ms begins. */
	static long clock() {
		long ms = System.currentTimeMillis(), now;
		do {
			now = System.currentTimeMillis();
		} while (now == ms);
		return now * 1000000 - System.nanoTime();
	}

	static void write(String file) throws IOException {
		long clock = clock();

		try (PrintWriter out = new PrintWriter(file, "UTF-8")) {
			for (Moment m : moments) {
				out.println((clock + m.begin) + " " + (clock + m.end) + " " + m.tid);
				for (StackTraceElement e : m.stack)
					out.println("\t" + e.getClassName() + "." + e.getMethodName() + "\t" +
						    e.getLineNumber());
			}
		}
	}

	public static void main(String[] args) throws IOException {
		int places = Integer.parseInt(args[0]), ms = Integer.parseInt(args[1]);
		int warm = Integer.parseInt(args[2]);
		Random chance = new Random(args.length > 4 ? Long.parseLong(args[4]) : 1);

		inThread(() -> {
			for (int i = 0; i < places; i++)
				chain(i, ms, warm, chance);
		});
		write(args[3]);
		if (sink == 1)
			System.out.println();
		System.exit(moments.size() == places ? 0 : 1);	/* a thread may have failed */
	}
}
