"""What a user asks of the memory itself: commands, erasing and restoring, export and import."""
