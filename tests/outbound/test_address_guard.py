"""A library's own lookups are checked, and those of others beside it are not."""

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hanbeon.outbound.addresses import AddressRefused, only_public


def _look_up(host: str) -> None:
    socket.getaddrinfo(host, 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "10.0.0.1", "0"])
def test_private_addresses_are_not_found(host: str) -> None:
    before, environment = socket.getaddrinfo, dict(os.environ)
    with only_public(allow_private=False), pytest.raises(AddressRefused, match="is refused: a"):
        _look_up(host)
    with only_public(allow_private=False):
        _look_up("93.184.215.14")
    with only_public(allow_private=True):
        _look_up(host)
    with only_public(allow_private="127.0.0.0/8 ::1/128 10.0.0.1/32 0.0.0.0/32"):
        _look_up(host)
    with only_public(allow_private=True), pytest.raises(AddressRefused, match="a cloud metadata address"):
        _look_up("169.254.169.254")
    assert (socket.getaddrinfo, dict(os.environ)) == (before, environment)


def test_in_the_main_thread_it_holds_for_all_threads() -> None:
    with ThreadPoolExecutor(1) as pool, only_public(allow_private=False), pytest.raises(AddressRefused):
        pool.submit(_look_up, "127.0.0.1").result()


def test_those_who_overlap_do_not_end_each_other_s_check() -> None:
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with only_public(allow_private=False):
            first_in.set()
            second_in.wait(0.5)  # In vain: it has to wait for this one's end.
        first_out.set()

    def second() -> None:
        assert first_in.wait(30)
        with only_public(allow_private=False):
            second_in.set()
            assert first_out.wait(30)
            _look_up("127.0.0.1")

    before = socket.getaddrinfo
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(each) for each in (first, second)]
        answers[0].result(30)
        with pytest.raises(AddressRefused):
            answers[1].result(30)
    assert socket.getaddrinfo is before


def test_in_another_thread_it_holds_for_that_one() -> None:
    """A worker beside it finds its database."""
    guarded, looked = threading.Event(), threading.Event()

    def guard() -> None:
        with only_public(allow_private=False):
            guarded.set()
            assert looked.wait(30)
            _look_up("127.0.0.1")

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(guard)
        assert guarded.wait(30)
        _look_up("127.0.0.1")
        looked.set()
        with pytest.raises(AddressRefused):
            answer.result(30)
