"""A Ray cluster in a process of its own, because gRPC does not survive a fork: a head without cores, two nodes of one.

It prints its address and the processes of its nodes as a line of JSON. A line on standard input replaces a node, which
is lost without a word to the others; the end of standard input ends the cluster.
"""

from __future__ import annotations

import json
import sys

from ray.cluster_utils import Cluster


def main() -> None:
    watchful = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": watchful}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [_node(cluster) for _ in range(2)]
    try:
        _tell(cluster, nodes)
        for _ in sys.stdin:
            cluster.remove_node(nodes.pop(0), allow_graceful=False)
            nodes.append(_node(cluster))
            _tell(cluster, nodes)
    finally:
        cluster.shutdown()


def _node(cluster: Cluster) -> object:
    return cluster.add_node(num_cpus=1, object_store_memory=10**8, include_dashboard=False)


def _tell(cluster: Cluster, nodes: list[object]) -> None:
    pids = [node.all_processes["raylet"][0].process.pid for node in nodes]  # type: ignore[attr-defined]
    print(json.dumps({"address": cluster.address, "nodes": pids}), flush=True)


if __name__ == "__main__":
    main()
