"""What the user says to the memory itself: erase, restore."""
