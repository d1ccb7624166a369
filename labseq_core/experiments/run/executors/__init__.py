"""Where tasks are performed: in processes of this machine, or on a Dask cluster. One job at a time on each worker."""

from labseq_core.experiments.run.executors.base import Executor, Job, WorkerLost, executor_for

__all__ = ["Executor", "Job", "WorkerLost", "executor_for"]
