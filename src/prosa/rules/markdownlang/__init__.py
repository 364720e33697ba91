"""Rules for programs, one file each."""
