"""Readers, writers and conversions: the only place that touches files or foreign objects."""
