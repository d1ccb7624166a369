"""Processes that train, started before they are needed."""

from __future__ import annotations

from labseq_core import worker_processes


def test_a_worker_started_ahead_is_taken_once_unless_it_has_died():
    worker_processes.start_ahead()
    (ahead,) = worker_processes._ahead
    worker_processes.start_ahead()
    assert worker_processes._ahead == [ahead]
    used = [worker_processes.take_worker()]
    try:
        assert used == [ahead]
        worker_processes.start_ahead()
        used += worker_processes._ahead
        used[1].kill()
        used[1].wait()
        used.append(worker_processes.take_worker())
        assert used[2] is not used[1]
        assert used[2].poll() is None
    finally:
        for process in used:
            process.communicate(timeout=60)  # it ends when its input closes
