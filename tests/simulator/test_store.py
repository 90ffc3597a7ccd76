"""The store: versions, history and its end."""

import asyncio
import json

import pytest

from vcsched.simulator.store import CompactedError, Store


def obj(name: str, **fields: object) -> dict[str, object]:
    return {"metadata": {"name": name}, **fields}


def test_one_counter_numbers_the_changes_of_all_kinds() -> None:
    store = Store()
    first = store.put(store.table("pods"), "a", obj("a"))
    second = store.put(store.table("nodes"), "n", obj("n"))
    gone = store.remove(store.table("pods"), "a")
    assert first.rv < second.rv < gone.rv == store.rv


def test_a_removal_has_a_version_of_its_own_and_the_old_one_is_left_alone() -> None:
    store = Store()
    table = store.table("pods")
    first = store.put(table, "a", obj("a"))
    store.remove(table, "a")
    change = table.since(first.rv)[0]
    assert change.type == "DELETED"
    assert change.version.obj["metadata"]["resourceVersion"] == str(store.rv)
    assert first.obj["metadata"]["resourceVersion"] == str(first.rv)


def test_the_history_tells_added_from_modified_in_order() -> None:
    store = Store()
    table = store.table("pods")
    start = store.rv
    store.put(table, "a", obj("a"))
    store.put(table, "b", obj("b"))
    store.put(table, "a", obj("a", spec=1))
    steps = [(change.type, change.version.key) for change in table.since(start)]
    assert steps == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a")]


def test_a_frame_is_one_line_of_json() -> None:
    store = Store()
    table = store.table("pods")
    store.put(table, "a", obj("a", spec={"x": "\n"}))
    frame = table.since(1)[0].frame
    assert frame.endswith(b"\n")
    assert frame.count(b"\n") == 1
    assert json.loads(frame)["object"]["spec"] == {"x": "\n"}


def test_a_reader_of_dropped_history_is_told_so() -> None:
    store = Store(history=10)
    table = store.table("pods")
    start = store.rv
    for number in range(30):
        store.put(table, "a", obj("a", spec=number))
    with pytest.raises(CompactedError):
        table.since(start)
    assert len(table.since(store.rv - 10)) == 10


def test_a_change_that_came_before_the_wait_is_not_slept_through() -> None:
    store = Store()
    table = store.table("pods")

    async def wait() -> None:
        await asyncio.wait_for(table.changed(1), 5)

    store.put(table, "a", obj("a"))
    asyncio.run(wait())


def test_a_wait_ends_with_the_next_change() -> None:
    store = Store()
    table = store.table("pods")

    async def wait() -> None:
        asyncio.get_running_loop().call_soon(store.put, table, "a", obj("a"))
        await asyncio.wait_for(table.changed(store.rv), 5)

    asyncio.run(wait())


def test_compaction_drops_everything_but_the_present() -> None:
    store = Store()
    table = store.table("pods")
    first = store.put(table, "a", obj("a"))
    store.put(table, "a", obj("a", spec=1))
    table.compact()
    with pytest.raises(CompactedError):
        table.since(first.rv)
    assert table.since(store.rv) == []
    assert table.objects["a"].obj["spec"] == 1
