"""A bare loader: how many bindings a second does the simulator take from one client that also watches pods?

    python -m tests.simulator.bind_load [PODS] [CONNECTIONS]

The server runs in a process of its own. Prints binds/s and the CPU time per binding of both sides; on a shared
machine only the second is a fair figure. Not a test: the suite asserts no times.
"""

import asyncio
import sys
import time
from pathlib import Path

import aiohttp
import uvloop

from vcsched.simulator.cluster import ApiServerProcess, Settings
from vcsched.simulator.kubelet import Pace
from vcsched.simulator.world import World


def cpu_s(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def load(url: str, pods: int, connections: int, pid: int) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        seen = 0
        done = asyncio.Event()

        async def watch() -> None:
            nonlocal seen
            query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
            async with session.get(f"{url}/api/v1/pods", params=query) as stream:
                async for chunk in stream.content.iter_any():
                    seen += chunk.count(b'"nodeName"')
                    if seen >= pods:
                        done.set()

        async with session.get(f"{url}/api/v1/pods", params={"limit": "1"}) as answer:
            version = (await answer.json())["metadata"]["resourceVersion"]
        watcher = asyncio.create_task(watch())
        numbers = iter(range(pods))

        async def worker() -> None:
            for number in numbers:
                name = f"big-{number}"
                body = (
                    f'{{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"{name}","namespace":"default"}},'
                    f'"target":{{"apiVersion":"v1","kind":"Node","name":"n-{number % 100}"}}}}'
                )
                path = f"{url}/api/v1/namespaces/default/pods/{name}/binding"
                headers = {"Content-Type": "application/json"}
                async with session.post(path, data=body, headers=headers) as answer:
                    assert answer.status == 201, await answer.text()
                    await answer.read()

        before, started, own = cpu_s(pid), time.perf_counter(), time.process_time()
        await asyncio.gather(*(worker() for _ in range(connections)))
        took = time.perf_counter() - started
        own, theirs = time.process_time() - own, cpu_s(pid) - before
        await asyncio.wait_for(done.wait(), 30)
        watcher.cancel()
    print(
        f"{pods / took:,.0f} binds/s over {connections} connections; "
        f"server {theirs / pods * 1e6:.0f} µs, loader {own / pods * 1e6:.0f} µs of CPU each"
    )


def main() -> None:
    pods, connections = (int(text) for text in (*sys.argv[1:], "20000", "16")[:2])
    world = World()
    world.nodes(100)
    world.gang("big", pods=pods, cpu=1, memory="1Gi")
    with ApiServerProcess(world.objects(), Settings(pace=Pace(start_s=0.5))) as server:
        uvloop.run(load(server.url, pods, connections, server.pid))


if __name__ == "__main__":
    main()
