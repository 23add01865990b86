// SPDX-License-Identifier: Apache-2.0
// Names as a D compiler mangles them; runs until it is killed.
module shop;
import core.volatile : volatileLoad, volatileStore;

pragma(inline, false):

__gshared ulong sold;

class Till
{
    ulong sell(T)(T n)
    {
        foreach (i; 0 .. 20_000)
            volatileStore(&sold, volatileLoad(&sold) + n);
        return sold | 1;
    }
}

ulong open(Till t)
{
    return t.sell!ulong(3) | 1;
}

extern (C) int main()
{
    scope t = new Till;
    while (open(t))
    {
    }
    return 0;
}
