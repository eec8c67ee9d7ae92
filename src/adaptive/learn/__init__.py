"""The outlet's work: extract, screen, reconcile, apply, report."""
