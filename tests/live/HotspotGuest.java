// SPDX-License-Identifier: Apache-2.0

/** A class that HotspotLoad loads again and again, and that is unloaded. */
public class HotspotGuest {
	static long guestBurn(int turns) {
		long x = turns;
		for (int i = 0; i < turns; i++)
			x += (x >>> 3) ^ i * x; // guest
		return x;
	}

	public static long run(int times) {
		long x = 0;
		for (int i = 0; i < times; i++)
			x += guestBurn(2000); // run
		return x;
	}
}
