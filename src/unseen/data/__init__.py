"""The one door: everything that reads or writes files and foreign objects, and the data sets."""
