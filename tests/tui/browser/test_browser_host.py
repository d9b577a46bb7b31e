"""The host that starts worker threads: what becomes of results, and of failures."""

import threading

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import is_cancelled
from spackscope.tui.browser.browser_host import CallOnLoop
from spackscope.tui.browser.jobs import Job
from tests.browsing import browsing
from tests.program import PATIENCE


async def test_jobs_run_in_threads_and_what_becomes_of_their_results() -> None:
    async with browsing() as browser:
        host, results = browser.browser.host, list[object]()
        loop_thread = threading.get_ident()
        started, may_end, stopped = threading.Event(), threading.Event(), list[bool]()

        def slow(report: CallOnLoop) -> str:
            report(lambda: results.append("progress"))
            started.set()
            may_end.wait(PATIENCE)
            stopped.append(is_cancelled())
            report(lambda: results.append("late progress"))
            return "slow"

        host.run(slow, results.append, Job("test"))
        await browser.until(started.is_set)
        await browser.until(lambda: results == ["progress"])
        assert host.is_running(Job("test"), Job("other"))
        host.run(lambda _: threading.get_ident(), results.append, Job("test"))
        may_end.set()
        await browser.settle()
        await browser.until(lambda: stopped == [True])
        assert len(results) == 2
        assert results[1] != loop_thread
        assert not host.is_running(Job("test"))

        host.run(lambda _: "first", results.append, Job("a"))
        host.run(lambda _: "second", results.append, Job("b"))
        await browser.settle()
        assert set(results[2:]) == {"first", "second"}, "groups do not disturb each other"

        results.clear()
        host.run(lambda _: "later", results.append, Job("later", 0.01))
        host.run(lambda _: "never", results.append, Job("cancelled", 0.01))
        host.cancel(Job("cancelled"))
        assert not host.is_running(Job("cancelled"))
        await browser.settle()
        assert results == ["later"]

        def stop(_: object) -> None:
            raise Cancelled

        host.run(stop, results.append, Job("stopped"))
        await browser.settle()
        assert not host.is_running(Job("stopped"))
        assert results == ["later"]
