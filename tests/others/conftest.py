"""Checks need libraries that are not here; `test_others.py` runs them where these are."""

collect_ignore_glob = ["*_checks.py"]
