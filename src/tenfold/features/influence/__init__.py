"""Which input digits an answer digit depends on, found by intervention."""
