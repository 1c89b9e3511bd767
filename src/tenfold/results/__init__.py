"""Results: rows of measurements, collected, stored as tables, summarised and compared."""
