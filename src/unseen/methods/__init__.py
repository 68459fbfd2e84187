"""The methods: each one file, all behind the contract of `base.Method`, made by `registry.make_method`."""
