"""Work spread over processes. Threads would share one interpreter and gain nothing."""

from prosa.adapters.processes.pool import Pool, worker_count

__all__ = ["Pool", "worker_count"]
