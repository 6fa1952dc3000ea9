"""The plain definitions that `benchmarks/models.py` measures against: each formula as one would first write it down."""
