"""One engine for numbers: where and how computation runs."""
