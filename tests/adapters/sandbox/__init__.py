"""The sandbox: programs that behave, programs that do not, and the processes around them."""
