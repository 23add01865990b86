// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Kinds of calls for HotspotAgree: each calls HotspotAgree.deeper() once. */
public class HotspotKinds {
	static final int KINDS = 53;

	static long call(int kind, HotspotAgree.Plan p) {
		switch (kind) {
		case 0: return plain(p);
		case 1: return manyLines(p);
		case 2: return recursive(p, 5);
		case 3: return even(p, 4);
		case 4: return virtual(p);
		case 5: return interfaces(p);
		case 6: return byDefault(p);
		case 7: return staticOfInterface(p);
		case 8: return lambda(p);
		case 9: return methodReference(p);
		case 10: return constructor(p);
		case 11: return intStream(p);
		case 12: return stream(p);
		case 13: return sort(p);
		case 14: return compare(p);
		case 15: return reflection(p);
		case 16: return newInstance(p);
		case 17: return handle(p);
		case 18: return handleOfTypes(p);
		case 19: return handleFiltered(p);
		case 20: return handleGuarded(p);
		case 21: return proxy(p);
		case 22: return handler(p);
		case 23: return finallyBlock(p);
		case 24: return locked(p);
		case 25: return lockedBlock(p);
		case 26: return privileged(p);
		case 27: return thread(p);
		case 28: return executor(p);
		case 29: return iterator(p);
		case 30: return computed(p);
		case 31: return optional(p);
		case 32: return threadLocal(p);
		case 33: return text(p);
		case 34: return hash(p);
		case 35: return equality(p);
		case 36: return variable(p, 1, 2, 3);
		case 37: return many(p, 1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3.5f, (byte) 4, 'c', "d");
		case 38: return bridge(p);
		case 39: return enumeration(p);
		case 40: return onText(p, "third");
		case 41: return access(p);
		case 42: return big(p);
		case 43: return replaced(p);
		case 44: return invalidated(p);
		case 45: return initialized(p);
		case 46: return future(p);
		case 47: return rethrown(p);
		case 48: return superclass(p);
		case 49: return rare(p);
		case 50: return small(p);
		case 51: return loaded(p);
		default: return resource(p);
		}
	}

	/* --- plain calls ----------------------------------------------------------------- */

	static long plain(HotspotAgree.Plan p) {
		return HotspotAgree.deeper(p) + 1;
	}

	static long manyLines(HotspotAgree.Plan p) {
		return add(1,
			   add(2,
			       HotspotAgree.deeper(p)),
			   4);
	}

	static long add(long... all) {
		long x = 0;
		for (long one : all)
			x += one;
		return x;
	}

	static long recursive(HotspotAgree.Plan p, int n) {
		return n > 0 ? recursive(p, n - 1) + 1 : HotspotAgree.deeper(p);
	}

	static long even(HotspotAgree.Plan p, int n) {
		return n > 0 ? odd(p, n - 1) : HotspotAgree.deeper(p);
	}

	static long odd(HotspotAgree.Plan p, int n) {
		return even(p, n - 1) + 1;
	}

	static long variable(HotspotAgree.Plan p, int... more) {
		return HotspotAgree.deeper(p) + more.length;
	}

	/* more than there are registers */
	static long many(HotspotAgree.Plan p, int a, int b, int c, long d, long e, long f, int g, int h, double i,
			 double j, float k, byte l, char m, Object n) {
		return HotspotAgree.deeper(p) + a + b + c + d + e + f + g + h + (long) (i + j + k) + l + m + n.hashCode();
	}

	static long onText(HotspotAgree.Plan p, String what) {
		switch (what) {
		case "first": return 1;
		case "third": return HotspotAgree.deeper(p);
		default: return 2;
		}
	}

	/* a frame of many words */
	static long big(HotspotAgree.Plan p) {
		long a = p.place, b = a * 3, c = b * 3, d = c * 3, e = d * 3, f = e * 3, g = f * 3, h = g * 3;
		double i = a / 3.0, j = i / 3, k = j / 3, l = k / 3, m = l / 3, n = m / 3, o = n / 3;
		long x = HotspotAgree.deeper(p);

		return x + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h) + (long) (i + j * 2 + k * 3 + l * 4 + m * 5 + n * 6 + o * 7);
	}

	static long one(HotspotAgree.Plan p) {
		return HotspotAgree.deeper(p);
	}

	static long two(HotspotAgree.Plan p) {
		return one(p);
	}

	/* so small that they are put into their callers */
	static long small(HotspotAgree.Plan p) {
		return two(p);
	}

	/* what was never done before is not compiled: here compiled code is left */
	static long rare(HotspotAgree.Plan p) {
		if (p.warm)
			return HotspotAgree.deeper(p);
		return HotspotAgree.deeper(p) + p.place;
	}

	/* runs so long that it is compiled while it does */
	static long replaced(HotspotAgree.Plan p) {
		int turns = p.warm ? 10 : 200000;
		long x = 0;

		for (int i = 0; i < turns; i++) {
			x += x >>> 3 ^ i;
			if (i == turns - 1)
				x += HotspotAgree.deeper(p);
		}
		return x;
	}

	/* --- methods that are found when they are called ----------------------------------------- */

	interface Call {
		long run(HotspotAgree.Plan p);

		default long byDefault(HotspotAgree.Plan p) {
			return run(p) + 1;
		}

		static long ofInterface(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 2;
		}
	}

	public abstract static class Base {
		public long outer(HotspotAgree.Plan p) {
			return inner(p) + 1;
		}

		public abstract long inner(HotspotAgree.Plan p);
	}

	static class Left extends Base implements Call {
		public long inner(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 1;
		}

		public long run(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 2;
		}
	}

	static class Middle extends Base implements Call {
		public long inner(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 3;
		}

		public long run(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 4;
		}
	}

	static class Right extends Left {
		public long inner(HotspotAgree.Plan p) {
			return super.inner(p) + 5;
		}

		public long run(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 6;
		}

		public long byDefault(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 7;
		}
	}

	static final Left[] OBJECTS = { new Left(), new Right(), new Right() };
	static final Base[] BASES = { new Left(), new Middle(), new Right() };
	static final Call[] CALLS = { new Left(), new Middle(), new Right(), HotspotKinds::plain, p -> plain(p) };

	static long virtual(HotspotAgree.Plan p) {
		return BASES[p.chance.nextInt(3)].outer(p);
	}

	static long interfaces(HotspotAgree.Plan p) {
		return CALLS[p.chance.nextInt(5)].run(p);
	}

	static long byDefault(HotspotAgree.Plan p) {
		return CALLS[p.chance.nextInt(5)].byDefault(p);
	}

	static long staticOfInterface(HotspotAgree.Plan p) {
		return Call.ofInterface(p);
	}

	static long superclass(HotspotAgree.Plan p) {
		return OBJECTS[p.chance.nextInt(3)].inner(p);
	}

	static class Made {
		final long x;

		Made(HotspotAgree.Plan p) {
			x = HotspotAgree.deeper(p);
		}
	}

	static long constructor(HotspotAgree.Plan p) {
		return new Made(p).x;
	}

	static class Generic<T> implements Function<T, Long> {
		public Long apply(T p) {
			return HotspotAgree.deeper((HotspotAgree.Plan) p);
		}
	}

	static class Special extends Generic<HotspotAgree.Plan> {
		@Override
		public Long apply(HotspotAgree.Plan p) {
			return super.apply(p) + 1;
		}
	}

	static final Function<HotspotAgree.Plan, Long> SPECIAL = new Special();

	/* through a method that javac makes */
	static long bridge(HotspotAgree.Plan p) {
		return SPECIAL.apply(p);
	}

	enum Number {
		ONE {
			long run(HotspotAgree.Plan p) {
				return HotspotAgree.deeper(p);
			}
		},
		TWO {
			long run(HotspotAgree.Plan p) {
				return HotspotAgree.deeper(p) * 2;
			}
		};

		abstract long run(HotspotAgree.Plan p);
	}

	static long enumeration(HotspotAgree.Plan p) {
		return Number.values()[p.chance.nextInt(2)].run(p);
	}

	static class Holder {
		private static long hidden(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p);
		}
	}

	/* through another one */
	static long access(HotspotAgree.Plan p) {
		return Holder.hidden(p);
	}

	/* --- lambdas, and the class library -------------------------------------------------------- */

	static long lambda(HotspotAgree.Plan p) {
		LongSupplier f = () -> HotspotAgree.deeper(p) + 1;
		return f.getAsLong();
	}

	static long methodReference(HotspotAgree.Plan p) {
		Function<HotspotAgree.Plan, Long> f = HotspotAgree::deeper;
		return f.apply(p);
	}

	static long intStream(HotspotAgree.Plan p) {
		return IntStream.range(0, 1).mapToLong(i -> HotspotAgree.deeper(p)).sum();
	}

	static long stream(HotspotAgree.Plan p) {
		return Stream.of(p).filter(x -> true).map(HotspotAgree::deeper).reduce(0L, Long::sum);
	}

	static long sort(HotspotAgree.Plan p) {
		List<Integer> two = new ArrayList<>(Arrays.asList(2, 1));
		Collections.sort(two, (a, b) -> (int) HotspotAgree.deeper(p));
		return two.get(0);
	}

	static class Key implements Comparable<Key>, Iterable<Long> {
		final HotspotAgree.Plan p;

		Key(HotspotAgree.Plan p) {
			this.p = p;
		}

		@Override
		public int compareTo(Key other) {
			return (int) HotspotAgree.deeper(p) + 1;
		}

		@Override
		public int hashCode() {
			return (int) HotspotAgree.deeper(p);
		}

		@Override
		public boolean equals(Object o) {
			return HotspotAgree.deeper(p) == 3;
		}

		@Override
		public String toString() {
			return "key " + HotspotAgree.deeper(p);
		}

		@Override
		public Iterator<Long> iterator() {
			return new Iterator<Long>() {
				boolean over;

				@Override
				public boolean hasNext() {
					return !over;
				}

				@Override
				public Long next() {
					over = true;
					return HotspotAgree.deeper(p);
				}
			};
		}
	}

	static long compare(HotspotAgree.Plan p) {
		Map<Key, Integer> map = new TreeMap<>((a, b) -> a == b ? 0 : a.compareTo(b));
		map.put(new Key(p), 1);
		map.put(new Key(p), 2);
		return map.size();
	}

	static long iterator(HotspotAgree.Plan p) {
		long sum = 0;
		for (long x : new Key(p))
			sum += x;
		return sum;
	}

	static long computed(HotspotAgree.Plan p) {
		return new HashMap<String, Long>().computeIfAbsent("x", k -> HotspotAgree.deeper(p));
	}

	static long optional(HotspotAgree.Plan p) {
		return Optional.of(p).map(HotspotAgree::deeper).orElse(0L);
	}

	static long threadLocal(HotspotAgree.Plan p) {
		return ThreadLocal.withInitial(() -> HotspotAgree.deeper(p)).get();
	}

	static long text(HotspotAgree.Plan p) {
		return String.valueOf(new Key(p)).length();
	}

	static long hash(HotspotAgree.Plan p) {
		Map<Key, Integer> map = new HashMap<>();
		map.put(new Key(p), 1);
		return map.size();
	}

	static long equality(HotspotAgree.Plan p) {
		return Arrays.<Object>asList(1).contains(new Key(p)) ? 1 : 2;
	}

	static long future(HotspotAgree.Plan p) {
		return CompletableFuture.completedFuture(p).thenApply(HotspotAgree::deeper).thenApply(x -> x + 1).join();
	}

	static long resource(HotspotAgree.Plan p) {
		try (AutoCloseable a = () -> HotspotAgree.deeper(p)) {
			return 1;
		} catch (Exception e) {
			throw wrapped(e);
		}
	}

	/* --- reflection, method handles ------------------------------------------------------------- */

	static final Method DEEPER = methodOf(HotspotAgree.class, "deeper");
	static final Method RUN = methodOf(Call.class, "run");
	static final Constructor<?> MADE = Made.class.getDeclaredConstructors()[0];
	static final MethodHandle EXACT = handleOf("plain", MethodType.methodType(long.class, HotspotAgree.Plan.class));
	static final MethodHandle BOXED = EXACT.asType(MethodType.methodType(Object.class, Object.class));
	static final MethodHandle FILTERED = MethodHandles.filterReturnValue(
		EXACT, handleOf("twice", MethodType.methodType(long.class, long.class)));
	static final MethodHandle GUARDED = MethodHandles.guardWithTest(
		handleOf("isEven", EXACT.type().changeReturnType(boolean.class)), EXACT, handleOf("lambda", EXACT.type()));

	static MethodHandle handleOf(String name, MethodType type) {
		try {
			return MethodHandles.lookup().findStatic(HotspotKinds.class, name, type);
		} catch (ReflectiveOperationException e) {
			throw wrapped(e);
		}
	}

	static Method methodOf(Class<?> c, String name) {
		try {
			return c.getMethod(name, HotspotAgree.Plan.class);
		} catch (NoSuchMethodException e) {
			throw wrapped(e);
		}
	}

	static long twice(long x) {
		return 2 * x;
	}

	static boolean isEven(HotspotAgree.Plan p) {
		return p.place % 2 == 0;
	}

	static RuntimeException wrapped(Throwable e) {
		return new IllegalStateException(e);
	}

	static long reflection(HotspotAgree.Plan p) {
		try {
			return p.place % 2 == 0 ? (Long) DEEPER.invoke(null, p) :
				(Long) RUN.invoke(CALLS[p.chance.nextInt(3)], p);
		} catch (ReflectiveOperationException e) {
			throw wrapped(e);
		}
	}

	static long newInstance(HotspotAgree.Plan p) {
		try {
			return ((Made) MADE.newInstance(p)).x;
		} catch (ReflectiveOperationException e) {
			throw wrapped(e);
		}
	}

	static long handle(HotspotAgree.Plan p) {
		try {
			return (long) EXACT.invokeExact(p);
		} catch (Throwable e) {
			throw wrapped(e);
		}
	}

	static long handleOfTypes(HotspotAgree.Plan p) {
		try {
			Object x = BOXED.invokeExact((Object) p);
			return (Long) x;
		} catch (Throwable e) {
			throw wrapped(e);
		}
	}

	static long handleFiltered(HotspotAgree.Plan p) {
		try {
			return (long) FILTERED.invokeExact(p);
		} catch (Throwable e) {
			throw wrapped(e);
		}
	}

	static long handleGuarded(HotspotAgree.Plan p) {
		try {
			return (long) GUARDED.invokeExact(p);
		} catch (Throwable e) {
			throw wrapped(e);
		}
	}

	static long proxy(HotspotAgree.Plan p) {
		Call c = (Call) Proxy.newProxyInstance(HotspotKinds.class.getClassLoader(), new Class<?>[] { Call.class },
						       (self, m, args) -> HotspotAgree.deeper((HotspotAgree.Plan) args[0]));
		return c.run(p);
	}

	static final MutableCallSite SITE = new MutableCallSite(EXACT.type());
	static final MethodHandle DYNAMIC = SITE.dynamicInvoker();
	static final MethodHandle[] TARGETS = { handleOf("changes", EXACT.type()), handleOf("changesToo", EXACT.type()) };

	static {
		SITE.setTarget(TARGETS[0]);
	}

	static long changes(HotspotAgree.Plan p) {
		if (!p.warm)
			SITE.setTarget(TARGETS[1]);
		return HotspotAgree.deeper(p) + 1;
	}

	static long changesToo(HotspotAgree.Plan p) {
		if (!p.warm)
			SITE.setTarget(TARGETS[0]);
		return HotspotAgree.deeper(p) + 2;
	}

	/* compiled for a target that is another one when it comes back */
	static long invalidated(HotspotAgree.Plan p) {
		try {
			return (long) DYNAMIC.invokeExact(p);
		} catch (Throwable e) {
			throw wrapped(e);
		}
	}

	@SuppressWarnings("removal")
	static long privileged(HotspotAgree.Plan p) {
		return AccessController.doPrivileged((PrivilegedAction<Long>) () -> HotspotAgree.deeper(p));
	}

	/* --- exceptions, locks, threads ----------------------------------------------------------------- */

	static long handler(HotspotAgree.Plan p) {
		try {
			throw new IllegalStateException("of a test");
		} catch (IllegalStateException e) {
			return HotspotAgree.deeper(p);
		}
	}

	static long finallyBlock(HotspotAgree.Plan p) {
		long x = 0;
		try {
			return x;
		} finally {
			x = HotspotAgree.deeper(p);
			HotspotAgree.sink += x;
		}
	}

	static void thrower(int n) {
		if (n == 0)
			throw new IllegalArgumentException("of a test");
		thrower(n - 1);
	}

	static long rethrown(HotspotAgree.Plan p) {
		try {
			try {
				thrower(3);
			} finally {
				HotspotAgree.sink++;
			}
		} catch (RuntimeException e) {
			return HotspotAgree.deeper(p);
		}
		return 0;
	}

	synchronized long lockedBy(HotspotAgree.Plan p) {
		return HotspotAgree.deeper(p);
	}

	static long locked(HotspotAgree.Plan p) {
		return new HotspotKinds().lockedBy(p);
	}

	static long lockedBlock(HotspotAgree.Plan p) {
		Object lock = new Object();
		synchronized (lock) {
			return HotspotAgree.deeper(p);
		}
	}

	static void join(Thread t) {
		try {
			t.join();
		} catch (InterruptedException e) {
			throw wrapped(e);
		}
	}

	static long thread(HotspotAgree.Plan p) {
		if (p.warm)
			return HotspotAgree.deeper(p);
		HotspotAgree.inThread(() -> HotspotAgree.sink += HotspotAgree.deeper(p));
		return 1;
	}

	static long executor(HotspotAgree.Plan p) {
		if (p.warm)
			return HotspotAgree.deeper(p);
		ExecutorService e = Executors.newSingleThreadExecutor();
		try {
			return e.submit(() -> HotspotAgree.deeper(p)).get();
		} catch (InterruptedException | ExecutionException x) {
			throw wrapped(x);
		} finally {
			e.shutdown();
		}
	}

	/* --- classes that are loaded -------------------------------------------------------------------- */

	static class Fresh extends ClassLoader {
		Fresh() {
			super(HotspotKinds.class.getClassLoader());
		}

		Class<?> define(String name) throws IOException {
			try (InputStream in = HotspotKinds.class.getResourceAsStream(name + ".class")) {
				ByteArrayOutputStream all = new ByteArrayOutputStream();
				for (int c = in.read(); c >= 0; c = in.read())
					all.write(c);
				return defineClass(name, all.toByteArray(), 0, all.size());
			}
		}
	}

	/** One more subclass, of another loader. */
	public static class Guest extends Base {
		public Guest() {
		}

		@Override
		public long outer(HotspotAgree.Plan p) {
			return HotspotAgree.deeper(p) + 1;
		}

		@Override
		public long inner(HotspotAgree.Plan p) {
			return 1;
		}
	}

	static long loaded(HotspotAgree.Plan p) {
		if (p.warm)
			return HotspotAgree.deeper(p);
		try {
			return ((Base) new Fresh().define("HotspotKinds$Guest").getDeclaredConstructor().newInstance()).outer(p);
		} catch (ReflectiveOperationException | IOException e) {
			throw wrapped(e);
		}
	}

	static HotspotAgree.Plan current;

	public static HotspotAgree.Plan current() {
		return current;
	}

	/** Calls when it is initialized. */
	public static class Beginner {
		public static final long X = HotspotAgree.deeper(current());
	}

	static long initialized(HotspotAgree.Plan p) {
		if (p.warm)
			return HotspotAgree.deeper(p);
		current = p;
		try {
			return new Fresh().define("HotspotKinds$Beginner").getField("X").getLong(null);
		} catch (ReflectiveOperationException | IOException e) {
			throw wrapped(e);
		}
	}
}
