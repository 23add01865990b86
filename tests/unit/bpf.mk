UNIT += unwind
