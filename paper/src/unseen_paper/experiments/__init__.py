"""The paper's tables, figures and claims as plans of runs."""
