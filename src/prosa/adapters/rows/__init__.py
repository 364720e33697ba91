"""Where the rows of a batch come from: JSON lines, JSON, CSV, SQLite, Parquet. Each is read as a stream, twice."""
