"""The part of Open WebUI that src/adaptive/host uses, as every supported release has it."""
