"""The inlet's work: gather memories, judge them, render the block."""
