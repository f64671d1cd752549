"""Transports: run flows with or without an event loop. Exceptions of httpx2 do not leave this module."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from hanbeon.client.address import Address, httpx
from hanbeon.client.flow import Emit, Flow, NextLine, NoResponse, Open, Request, Response, Send, Sleep, Step, Stream

T = TypeVar("T")
_PART_BYTES = 1 << 18
_SILENCE_SECONDS = 45.0
"""A stream sends something every 15 s; one that is silent for this long is presumed dead."""


class SyncHttpTransport:
    """Blocks at each step. Thread-safe."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._http = httpx().Client(**address.options)

    def close(self) -> None:
        self._http.close()

    def run(self, flow: Flow[T]) -> T:
        came: Any = None
        while True:
            try:
                step = flow.send(came)
            except StopIteration as end:
                result: T = end.value
                return result
            came = self._do(step, None)

    def each(self, stream: Stream[T]) -> Iterator[T]:
        with contextlib.closing(stream), contextlib.ExitStack() as streams:
            listening = _Listening(streams)
            came: Any = None
            while True:
                try:
                    step = stream.send(came)
                except StopIteration:
                    return
                if isinstance(step, Emit):
                    yield step.value
                    came = None
                else:
                    came = self._do(step, listening)

    def _do(self, step: Step, listening: Any) -> Any:
        match step:
            case Sleep(seconds):
                return time.sleep(seconds)
            case Send(request) if request.save is not None:
                return self._save(request, request.save)
            case Send(request):
                try:
                    with _arguments(self._address, request) as arguments:
                        return _answer(self._http.request(**arguments))
                except httpx().TransportError as error:
                    return self._lost(error)
            case Open(request):
                return self._open(request, listening)
            case NextLine():
                try:
                    return next(listening.lines)
                except StopIteration:
                    return _ended()
                except httpx().TransportError as error:
                    return self._lost(error)

    def _save(self, request: Request, path: str) -> Response | NoResponse:
        try:
            with self._http.stream(**self._address.arguments(request)) as response:
                if response.status_code != 200:
                    response.read()
                    return _answer(response)
                with _new_file(path) as file:
                    for part in response.iter_bytes(_PART_BYTES):
                        file.write(part)
                return Response(response.status_code, _headers(response), b"")
        except httpx().TransportError as error:
            return self._lost(error)

    def _open(self, request: Request, listening: _Listening) -> Response | NoResponse:
        listening.streams.close()
        try:
            arguments = self._address.arguments(request, silence=_SILENCE_SECONDS)
            response = listening.streams.enter_context(self._http.stream(**arguments))
            if response.status_code != 200:
                response.read()
                return _answer(response)
        except httpx().TransportError as error:
            return self._lost(error)
        listening.lines = response.iter_lines()
        return Response(response.status_code, _headers(response), b"")

    def _lost(self, error: Exception) -> NoResponse:
        return _lost(error, self._address.url)


class AsyncHttpTransport:
    """Runs flows on an event loop."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._http = httpx().AsyncClient(**address.options)

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, flow: Flow[T]) -> T:
        came: Any = None
        while True:
            try:
                step = flow.send(came)
            except StopIteration as end:
                result: T = end.value
                return result
            came = await self._do(step, None)

    async def each(self, stream: Stream[T]) -> AsyncIterator[T]:
        with contextlib.closing(stream):
            async with contextlib.AsyncExitStack() as streams:
                listening = _Listening(streams)
                came: Any = None
                while True:
                    try:
                        step = stream.send(came)
                    except StopIteration:
                        return
                    if isinstance(step, Emit):
                        yield step.value
                        came = None
                    else:
                        came = await self._do(step, listening)

    async def _do(self, step: Step, listening: Any) -> Any:
        match step:
            case Sleep(seconds):
                return await asyncio.sleep(seconds)
            case Send(request) if request.save is not None:
                return await self._save(request, request.save)
            case Send(request):
                try:
                    with _arguments(self._address, request) as arguments:
                        return _answer(await self._http.request(**arguments))
                except httpx().TransportError as error:
                    return self._lost(error)
            case Open(request):
                return await self._open(request, listening)
            case NextLine():
                try:
                    return await anext(listening.lines)
                except StopAsyncIteration:
                    return _ended()
                except httpx().TransportError as error:
                    return self._lost(error)

    async def _save(self, request: Request, path: str) -> Response | NoResponse:
        try:
            async with self._http.stream(**self._address.arguments(request)) as response:
                if response.status_code != 200:
                    await response.aread()
                    return _answer(response)
                with _new_file(path) as file:
                    async for part in response.aiter_bytes(_PART_BYTES):
                        file.write(part)
                return Response(response.status_code, _headers(response), b"")
        except httpx().TransportError as error:
            return self._lost(error)

    async def _open(self, request: Request, listening: _Listening) -> Response | NoResponse:
        await listening.streams.aclose()
        try:
            arguments = self._address.arguments(request, silence=_SILENCE_SECONDS)
            response = await listening.streams.enter_async_context(self._http.stream(**arguments))
            if response.status_code != 200:
                await response.aread()
                return _answer(response)
        except httpx().TransportError as error:
            return self._lost(error)
        listening.lines = response.aiter_lines()
        return Response(response.status_code, _headers(response), b"")

    def _lost(self, error: Exception) -> NoResponse:
        return _lost(error, self._address.url)


@contextlib.contextmanager
def _arguments(address: Address, request: Request) -> Iterator[dict[str, Any]]:
    """The arguments for a request; the file of an upload is closed at the end."""
    arguments = address.arguments(request)
    try:
        yield arguments
    finally:
        for _, file in arguments.get("files", {}).values():
            file.close()


@contextlib.contextmanager
def _new_file(path: str) -> Iterator[BinaryIO]:
    """A file that gets its name once it is whole, and never takes that of another."""
    part = Path(f"{path}.part")
    try:
        with part.open("wb") as file:
            yield file
        os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


class _Listening:
    """The open stream, and the function that closes it."""

    def __init__(self, streams: Any) -> None:
        self.streams = streams
        self.lines: Any = iter(())


def _answer(response: Any) -> Response:
    return Response(response.status_code, _headers(response), response.content)


def _headers(response: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _lost(error: Exception, url: str) -> NoResponse:
    never_left = (httpx().ConnectError, httpx().ConnectTimeout, httpx().PoolTimeout)
    why = str(error) or type(error).__name__
    return NoResponse(f"{url} does not respond: {why}", sent=not isinstance(error, never_left))


def _ended() -> NoResponse:
    return NoResponse("the server ended the stream", sent=True)
