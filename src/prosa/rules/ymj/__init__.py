"""The rules of YMJ records, one file each; `table` has their rows."""
