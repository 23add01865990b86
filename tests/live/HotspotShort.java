// SPDX-License-Identifier: Apache-2.0

/** A program that lives for about a second: HotspotShort SECONDS. */
public class HotspotShort {
	static long inner(int turns) {
		long x = turns;
		for (int i = 0; i < turns; i++)
			x += (x >>> 3) ^ i * x;
		return x;
	}

	static long outer(long until) {
		long x = 0;
		while (System.nanoTime() - until < 0)
			x += inner(2000);
		return x;
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(args[0]));
		if (outer(end) == 1)
			System.out.println();
	}
}
