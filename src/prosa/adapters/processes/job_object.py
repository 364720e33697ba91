"""Job objects of Windows: processes that end together, with everything they start, and with this process.

What a process group and `/proc` are elsewhere. In: a process that was started with `FLAGS`, suspended, so that it
starts nothing before it is in the job. Nothing here is called on other systems.
"""

from __future__ import annotations

from functools import cache
from typing import Any

FLAGS = 0x4 | 0x0800_0000
"""CREATE_SUSPENDED and CREATE_NO_WINDOW, for `subprocess.Popen`."""

_KILL_ON_CLOSE, _DIE_QUIETLY, _PROCESS_MEMORY = 0x2000, 0x400, 0x100
_TERMINATE, _SET_QUOTA = 0x1, 0x100
_THREADS, _RESUME, _FAILED = 0x4, 0x2, 0xFFFF_FFFF
_NO_HANDLE = -1
_ACCOUNTING, _EXTENDED = 1, 9
_STATUS = 1
"""Exit status of a process that was ended."""


class JobObject:
    """A job object. Its last handle is held here: when this process ends, however it ends, all in the job end. Raises
    `OSError` where the system refuses."""

    def __init__(self) -> None:
        self._handle: int | None = _checked(_kernel().CreateJobObjectW(None, None))
        self.limit(None)

    def limit(self, memory: int | None) -> None:
        """Set the bytes that each process in the job may commit; None for no limit."""
        import ctypes

        limits = _structures()[1]()
        limits.flags = _KILL_ON_CLOSE | _DIE_QUIETLY | (_PROCESS_MEMORY if memory else 0)
        limits.process_memory = memory or 0
        size = ctypes.sizeof(limits)
        _checked(_kernel().SetInformationJobObject(self._handle, _EXTENDED, ctypes.byref(limits), size))

    def start(self, pid: int) -> None:
        """Take in a suspended process, and let it run."""
        kernel = _kernel()
        process = _checked(kernel.OpenProcess(_TERMINATE | _SET_QUOTA, False, pid))
        try:
            _checked(kernel.AssignProcessToJobObject(self._handle, process))
            _resume(pid)
        except OSError:
            kernel.TerminateProcess(process, _STATUS)
            raise
        finally:
            kernel.CloseHandle(process)

    def count(self) -> int:
        """Return how many processes in the job still run."""
        import ctypes

        accounting = _structures()[0]()
        size = ctypes.sizeof(accounting)
        if self._handle is None:
            return 0
        _checked(_kernel().QueryInformationJobObject(self._handle, _ACCOUNTING, ctypes.byref(accounting), size, None))
        return int(accounting.active)

    def end(self) -> None:
        """End all processes in the job, at once. Safe to call twice."""
        if self._handle is not None:
            _kernel().TerminateJobObject(self._handle, _STATUS)

    def close(self) -> None:
        """Give the job up, which ends what is still in it. Safe to call twice."""
        if self._handle is not None:
            _kernel().CloseHandle(self._handle)
            self._handle = None


def _resume(pid: int) -> None:
    """Let the threads of a process run: one, which its creator has no handle of any more. Raises `OSError`."""
    import ctypes

    kernel, entry = _kernel(), _structures()[2]()
    entry.size = ctypes.sizeof(entry)
    snapshot = kernel.CreateToolhelp32Snapshot(_THREADS, 0)
    if snapshot in (None, ctypes.c_void_p(_NO_HANDLE).value):
        _checked(0)
    resumed = 0
    try:
        more = kernel.Thread32First(snapshot, ctypes.byref(entry))
        while more:
            if entry.owner == pid:
                thread = _checked(kernel.OpenThread(_RESUME, False, entry.thread))
                resumed += kernel.ResumeThread(thread) != _FAILED
                kernel.CloseHandle(thread)
            more = kernel.Thread32Next(snapshot, ctypes.byref(entry))
    finally:
        kernel.CloseHandle(snapshot)
    _checked(resumed)


def _checked(result: int | None) -> int:
    """Return what a call returned. Raises `OSError` for what means a failure."""
    if result:
        return result
    import ctypes

    code = getattr(ctypes, "get_last_error", lambda: 0)()
    raise OSError(code, f"a job object of Windows failed with error {code}")


@cache
def _kernel() -> Any:  # noqa: ANN401 - functions of a library have no types
    """Return the functions of the system, with the types of their handles: an `int` of C is too small for one."""
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined, unused-ignore]
    handle, pointer, number, flag = wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD, wintypes.BOOL
    for name, result, arguments in (
        ("CreateJobObjectW", handle, (pointer, wintypes.LPCWSTR)),
        ("SetInformationJobObject", flag, (handle, ctypes.c_int, pointer, number)),
        ("QueryInformationJobObject", flag, (handle, ctypes.c_int, pointer, number, pointer)),
        ("AssignProcessToJobObject", flag, (handle, handle)),
        ("TerminateJobObject", flag, (handle, wintypes.UINT)),
        ("OpenProcess", handle, (number, flag, number)),
        ("TerminateProcess", flag, (handle, wintypes.UINT)),
        ("CloseHandle", flag, (handle,)),
        ("CreateToolhelp32Snapshot", handle, (number, number)),
        ("Thread32First", flag, (handle, pointer)),
        ("Thread32Next", flag, (handle, pointer)),
        ("OpenThread", handle, (number, flag, number)),
        ("ResumeThread", number, (handle,)),
    ):
        function = getattr(kernel, name)
        function.restype, function.argtypes = result, arguments
    return kernel


@cache
def _structures() -> tuple[Any, Any, Any]:
    """Return JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION and THREADENTRY32."""
    import ctypes
    from ctypes import c_int32, c_int64, c_size_t, c_uint32, c_uint64

    class Accounting(ctypes.Structure):
        _fields_ = (
            *((name, c_int64) for name in ("user", "kernel", "period_user", "period_kernel")),
            *((name, c_uint32) for name in ("faults", "total", "active", "ended")),
        )

    class Limits(ctypes.Structure):
        _fields_ = (
            *(("process_time", c_int64), ("job_time", c_int64), ("flags", c_uint32)),
            *(("least_set", c_size_t), ("most_set", c_size_t), ("processes", c_uint32)),
            *(("affinity", c_size_t), ("priority", c_uint32), ("scheduling", c_uint32)),
            *((f"io_{at}", c_uint64) for at in range(6)),
            *((name, c_size_t) for name in ("process_memory", "job_memory", "peak_process", "peak_job")),
        )

    class Thread(ctypes.Structure):
        _fields_ = (
            *((name, c_uint32) for name in ("size", "usage", "thread", "owner")),
            *(("priority", c_int32), ("delta", c_int32), ("flags", c_uint32)),
        )

    return Accounting, Limits, Thread
