"""What everybody may use: the model of memories and turns, ports, errors, messages, the clock."""
