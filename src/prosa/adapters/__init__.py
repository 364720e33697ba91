"""Where the ports of the core meet the world. Only these folders open files, sockets and processes."""
