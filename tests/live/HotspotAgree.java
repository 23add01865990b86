// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Random stacks of Java's kinds of calls (HotspotKinds), and what the VM itself says of
 * each: HotspotAgree PLACES MS WARM FILE [SEED], with -XX:+ShowHiddenFrames, JDK 8 or
 * later. Each chain is called WARM times, so that it is compiled; then once more, and
 * burns CPU time for some milliseconds at its end. FILE gets for each of these moments
 * its first and last (ns since 1970), the thread and the stack, innermost first: what a
 * Throwable that was made there says.
 */
public class HotspotAgree {
	static final AtomicInteger threads = new AtomicInteger();
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
		final String thread = Thread.currentThread().getName();
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

		m.begin = System.nanoTime();
		do {
			x += work(p.place);
			m.end = System.nanoTime();
		} while (m.end - m.begin < p.ms * 1000000L);
		return x;
	}

	static long work(int place) {
		switch (place % 4) {
		case 0: return numbers(3000);
		case 1: return strings(40);
		case 2: return arrays(40);
		default: return divisions(1000);
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

	/** One with a name of its own. */
	static Thread thread(Runnable f) {
		return new Thread(f, "agree-" + threads.incrementAndGet());
	}

	/** Call f in a thread of its own. */
	static void inThread(Runnable f) {
		Thread t = thread(f);
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
				out.println((clock + m.begin) + " " + (clock + m.end) + " " + m.thread);
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
