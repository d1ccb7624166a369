"""Processes that train, started before they are needed."""

from __future__ import annotations

from labseq_core import worker_processes as _workers


def test_a_worker_started_ahead_is_taken_once_unless_it_has_died():
    _workers.start_ahead()
    (ahead,) = _workers._ahead
    _workers.start_ahead()
    assert _workers._ahead == [ahead]
    used = [_workers.take_worker()]
    try:
        assert used == [ahead]
        _workers.start_ahead()
        used += _workers._ahead
        used[1].kill()
        used[1].wait()
        used.append(_workers.take_worker())
        assert used[2] is not used[1]
        assert used[2].poll() is None
    finally:
        for process in used:
            process.communicate(timeout=60)  # it ends when its input closes
