// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * A program for JDK 8 or later that burns CPU time at the end of a chain of calls that
 * is known, and says a line when it begins: HotspotLoad SECONDS MODE [WORD]. The chain
 * is called again every few microseconds (so all of it is compiled soon), but for modes
 * that say otherwise. Comments at the ends of lines name these for the test.
 */
public class HotspotLoad {
	static final int TURNS = 2000;
	static long until;
	static long sink;

	interface Job {
		long run(int turns);
	}

	static long burn(int turns) {
		long x = turns;
		for (int i = 0; i < turns; i++)
			x += (x >>> 3) ^ i * x; // burn
		return x;
	}

	static boolean over() {
		return System.nanoTime() - until >= 0;
	}

	static class Work {
		long method(int turns) {
			return burn(turns) + 1; // method
		}
	}

	/* Which one is called is known only when it is: through the table of interfaces. */
	static class First implements Job {
		public long run(int turns) {
			return burn(turns) + 1; // first
		}
	}

	static class Second implements Job {
		public long run(int turns) {
			return burn(turns) + 2; // second
		}
	}

	static class Third implements Job {
		public long run(int turns) {
			return burn(turns) + 3; // third
		}
	}

	static abstract class Base {
		abstract long inner(int turns);

		long outer(int turns) {
			return inner(turns) + 1; // outer
		}
	}

	static class Left extends Base {
		long inner(int turns) {
			return burn(turns) + 1; // left
		}
	}

	static class Middle extends Base {
		long inner(int turns) {
			return burn(turns) + 2; // middle
		}
	}

	static class Right extends Base {
		long inner(int turns) {
			return burn(turns) + 3; // right
		}
	}

	static void chain() {
		Work work = new Work();
		while (!over())
			sink += work.method(TURNS); // chain
	}

	/* One call, which does not end: it is replaced by compiled code on the stack. */
	static long forever() {
		long x = 1;
		while (!over())
			for (int i = 0; i < 100000; i++)
				x += (x >>> 3) ^ i * x; // forever
		return x;
	}

	static void onlyForever() {
		sink += forever(); // only
	}

	static void interfaces() {
		Job[] jobs = { new First(), new Second(), new Third() };
		for (int i = 0; !over(); i++)
			sink += jobs[i % 3].run(TURNS); // interfaces
	}

	static void virtuals() {
		Base[] all = { new Left(), new Middle(), new Right() };
		for (int i = 0; !over(); i++)
			sink += all[i % 3].outer(TURNS); // virtuals
	}

	static void lambdas() {
		Job job = turns -> burn(turns) + 1; // lambda
		while (!over())
			sink += job.run(TURNS); // lambdas
	}

	/* Java called by the class library called by Java. */
	static void sort() {
		Integer[] two = { 2, 1 };
		Comparator<Integer> by = (a, b) -> {
			sink += burn(TURNS); // compare
			return a - b;
		};
		while (!over())
			Arrays.sort(two.clone(), by); // sort
	}

	static void streams() {
		while (!over())
			sink += IntStream.range(0, 10).mapToLong(i -> burn(TURNS) + i).sum(); // streams
	}

	static long deep(int left) {
		return left == 0 ? burn(TURNS * 10) : deep(left - 1) + 1; // deep
	}

	static void recursion(int depth) {
		while (!over())
			sink += deep(depth); // recursion
	}

	static void exceptions() {
		while (!over()) {
			try {
				thrower(); // thrower
			} catch (IllegalStateException e) {
				sink += burn(TURNS); // handler
			}
		}
	}

	static void thrower() {
		throw new IllegalStateException("of a test");
	}

	static void reflection() throws ReflectiveOperationException {
		Method m = HotspotLoad.class.getDeclaredMethod("burn", int.class);
		while (!over())
			sink += (Long) m.invoke(null, TURNS); // reflection
	}

	/* Compiled for what it has seen, then it sees something else: compiled code is
	 * left in the middle, again and again. */
	static void deoptimized() {
		Job[] jobs = { new First(), new Second(), new Third() };
		for (int round = 0; !over(); round++) {
			Job job = jobs[round % 3];
			for (int i = 0; i < 20000 && !over(); i++)
				sink += new Caller().call(job, 200 + round); // deoptimized
		}
	}

	static class Caller {
		long call(Job job, int turns) {
			if (job instanceof Second && turns % 5 == 0)
				return job.run(turns) - 1; // rare
			return job.run(turns) + 1; // call
		}
	}

	static void threads(int n) throws InterruptedException {
		Thread[] all = new Thread[n];
		for (int i = 0; i < n; i++) {
			all[i] = new Thread(HotspotLoad::chain, "thread-" + i);
			all[i].start();
		}
		for (Thread t : all)
			t.join();
	}

	/* Threads that end and begin. */
	static void shortThreads() throws InterruptedException {
		while (!over()) {
			Thread t = new Thread(() -> {
				for (int i = 0; i < 2000; i++)
					sink += burn(TURNS); // shortThread
			});
			t.start();
			t.join();
		}
	}

	/* JDK 21 and later: by reflection, since this is compiled for 8. */
	static void virtualThreads(int n, Runnable what) throws ReflectiveOperationException, InterruptedException {
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		Thread[] all = new Thread[n];
		for (int i = 0; i < n; i++)
			all[i] = (Thread) start.invoke(null, what);
		for (Thread t : all)
			t.join();
	}

	/* One that leaves its carrier and comes back. */
	static void yielding() {
		while (!over()) {
			for (int i = 0; i < 200; i++)
				sink += burn(TURNS); // yielding
			Thread.yield();
		}
	}

	/* Garbage: young and old, so that a collector has work. */
	static void garbage() {
		Object[] old = new Object[20000];
		for (int i = 0; !over(); i++) {
			old[i % old.length] = new byte[64 + i % 512];
			if (i % 16 == 0)
				sink += garbageBurn(old, i);
		}
	}

	static long garbageBurn(Object[] old, int i) {
		byte[] b = (byte[]) old[i % old.length];
		return burn(TURNS / 4) + b.length; // garbage
	}

	static native long fromC(int turns);	/* burns in C */

	static native long throughC(int turns);	/* C calls back() */

	static long back(int turns) {
		return burn(turns) + 1; // back
	}

	static void inC() {
		while (!over())
			sink += fromC(TURNS * 10); // inC
	}

	static void callbacks() {
		while (!over())
			sink += throughC(TURNS); // callbacks
	}

	/* A class that is loaded, runs for some milliseconds and is unloaded. */
	static void unloading(String folder) throws Exception {
		URL[] where = { new File(folder).toURI().toURL() };
		for (int i = 1; !over(); i++) {
			try (URLClassLoader loader = new URLClassLoader(where, null)) {
				Method run = loader.loadClass("HotspotGuest").getMethod("run", int.class);
				sink += (Long) run.invoke(null, 400); // unloading
			}
			if (i % 20 == 0)
				System.gc();
		}
	}

	/* Generated classes Many0, Many1 ... with methods each: m0, m1 ... */
	static void many(int classes) throws Exception {
		Job[] all = new Job[classes];
		for (int i = 0; i < classes; i++)
			all[i] = (Job) Class.forName("Many" + i).getDeclaredConstructor().newInstance();
		System.out.println("loaded");
		while (!over())
			for (Job job : all)
				sink += job.run(3000); // many
	}

	static void start(String mode, String word) throws Exception {
		int n = word.matches("\\d+") ? Integer.parseInt(word) : 0;

		switch (mode) {
		case "chain": chain(); break;
		case "forever": onlyForever(); break;
		case "interfaces": interfaces(); break;
		case "virtuals": virtuals(); break;
		case "lambdas": lambdas(); break;
		case "sort": sort(); break;
		case "streams": streams(); break;
		case "recursion": recursion(n); break;
		case "exceptions": exceptions(); break;
		case "reflection": reflection(); break;
		case "deoptimized": deoptimized(); break;
		case "threads": threads(n); break;
		case "shortThreads": shortThreads(); break;
		case "virtualThreads": virtualThreads(n, HotspotLoad::chain); break;
		case "yielding": virtualThreads(n, HotspotLoad::yielding); break;
		case "garbage": garbage(); break;
		case "inC": System.load(word); inC(); break;
		case "callbacks": System.load(word); callbacks(); break;
		case "unloading": unloading(word); break;
		case "many": many(n); break;
		default: throw new IllegalArgumentException(mode);
		}
	}

	public static void main(String[] args) throws Exception {
		until = System.nanoTime() + (long) (1e9 * Double.parseDouble(args[0]));
		System.out.println("burns");
		start(args[1], args.length > 2 ? args[2] : "0");
		if (sink == 1)
			System.out.println();
	}
}
