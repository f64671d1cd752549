// Data that stays fresh: asked again on a timer, and at once when the event stream tells of a change.
import { effect, type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Problem, session } from "./api";

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined;
  refresh: () => void;
}

/** Counts up with the changes of the engine: at most once a second, and ever more slowly while they do not cease. */
export const changes = signal(0);
/** A cursor ahead of all events: the stream begins with the next one instead of all that are kept. */
export const FROM_NOW_ON = String(Number.MAX_SAFE_INTEGER);
const RECONNECT_MS = 2_000;
const HINT_EVERY_MS = 1_000;
/** While changes do not cease: open pages must not cost a busy engine its speed. */
const SLOWEST_MS = 10_000;
/** A timer as slow as the hints must not go off in the same moment as one. */
const AFTER_HINTS_MS = 500;

export function usePolled<T>(ask: () => Promise<T>, key: string, everyMs: number, follow = true): Loaded<T> {
  const data: Signal<T | undefined> = useSignal(undefined);
  const problem: Signal<Problem | undefined> = useSignal(undefined);
  const latest = useRef(ask);
  const refresh = useRef<() => void>(() => undefined);
  latest.current = ask;
  useEffect(() => {
    let stopped = false;
    let underWay = false;
    let again = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    data.value = undefined;
    problem.value = undefined;
    const run = async (): Promise<void> => {
      if (underWay) {
        again = true;
        return;
      }
      underWay = true;
      arm();
      try {
        const found = await latest.current();
        if (!stopped) [data.value, problem.value] = [found, undefined];
      } catch (error) {
        if (!stopped && error instanceof Problem) problem.value = error;
      } finally {
        underWay = false;
        if (again && !stopped) {
          again = false;
          void run();
        }
      }
    };
    // A page that nobody looks at asks for nothing.
    const tick = (): void => {
      arm();
      if (!document.hidden) void run();
    };
    // What follows changes counts from the last request: it is not asked for twice. The rest is asked for when all open
    // pages do, by the clock, so that the server reads it once for all of them.
    const arm = (): void => {
      clearTimeout(timer);
      if (!stopped) timer = setTimeout(tick, follow ? everyMs + AFTER_HINTS_MS : everyMs - (Date.now() % everyMs));
    };
    refresh.current = () => void run();
    void run();
    document.addEventListener("visibilitychange", tick);
    let seen = changes.peek();
    const unfollow = follow
      ? effect(() => {
          if (changes.value !== seen) {
            seen = changes.value;
            tick();
          }
        })
      : () => undefined;
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", tick);
      unfollow();
    };
  }, [key, everyMs]);
  return { data: data.value, problem: problem.value, refresh: () => refresh.current() };
}

/** Follow the hints that something has changed: pages ask for what they show. `connected` is called when the stream comes or goes. */
export function followEvents(connected: () => void): void {
  let socket: WebSocket | null = null;
  let hintedAt = 0;
  let pace = HINT_EVERY_MS;
  let pending: ReturnType<typeof setTimeout> | undefined;
  const hint = (): void => {
    if (pending !== undefined) return;
    const now = Date.now();
    const rested = now - hintedAt >= 2 * pace;
    pace = rested ? HINT_EVERY_MS : Math.min(SLOWEST_MS, pace * 2);
    // By the clock: all open pages ask at once, and share what is read.
    const wait = rested ? 0 : pace - (now % pace);
    pending = setTimeout(() => {
      pending = undefined;
      hintedAt = Date.now();
      changes.value += 1;
    }, wait);
  };
  const open = (): void => {
    if (!session.peek() || socket) return;
    const url = new URL("/ws/engine/changes", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(url);
    socket.onopen = () => {
      hint();
      connected();
    };
    socket.onmessage = hint;
    socket.onclose = () => {
      socket = null;
      connected();
      setTimeout(open, RECONNECT_MS);
    };
  };
  effect(() => {
    if (session.value) open();
    else socket?.close();
  });
}
