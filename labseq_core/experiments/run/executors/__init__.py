"""Where tasks are performed: in processes of this machine, or on a Dask cluster. One job at a time on each worker."""

from labseq_core.experiments.run.executors.base import Executor, Job, WorkerLost

__all__ = ["Executor", "Job", "WorkerLost", "executor_for"]


def executor_for(scheduler: str | None) -> Executor:
    """Processes of this machine, or the Dask cluster at an address."""
    if scheduler:
        from labseq_core.experiments.run.executors.dask_cluster import DaskCluster

        return DaskCluster(scheduler)
    from labseq_core.experiments.run.executors.local import LocalProcesses

    return LocalProcesses()
