"""A Dask cluster of SLURM jobs for `enquete run … --executor dask:ADDRESS`, with the settings of dask.yaml.

DASK_CONFIG=examples/cluster/dask.yaml python examples/cluster/slurm.py 4     # on a node that the jobs reach
pip install dask-jobqueue. The jobs have this shell's environment: keys, ENQUETE_STORE and PGPASSWORD belong there.
"""

import signal
import sys

from dask_jobqueue import SLURMCluster

if __name__ == "__main__":
    with SLURMCluster() as cluster:
        cluster.scale(jobs=int(sys.argv[1]))
        print(f"--executor dask:{cluster.scheduler_address}", cluster.dashboard_link, sep="\n", flush=True)
        signal.pause()
