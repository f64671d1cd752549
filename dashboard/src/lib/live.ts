// Hints of the engine that something has changed, and data that follows them.
import { effect, signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Problem, session } from "./api";
import { type Follow, loader, type Read } from "./loader";
import { stream } from "./stream";

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined;
  refresh: () => void;
}

/** Counts up with the changes of the engine: at most once a second, and ever more slowly while they do not cease. */
const changes = signal(0);
const FASTEST_MS = 1_000;
/** While changes do not cease: open pages must not cost a busy engine its speed. */
const SLOWEST_MS = 10_000;

export const engineChanges: Follow = (changed) => {
  let seen = changes.peek();
  return effect(() => {
    if (changes.value === seen) return;
    seen = changes.value;
    changed();
  });
};

/** What `read` finds, read again when `key` changes, every so often, and when `follow` says that something changed. */
export function useLoaded<T>(
  read: Read<T>,
  key: string,
  everyMs = Infinity,
  follow: Follow | null = engineChanges,
): Loaded<T> {
  const latest = useRef(read);
  latest.current = read;
  const loaded = useMemo(() => loader((left) => latest.current(left), everyMs, follow), [key, everyMs]);
  useEffect(() => loaded.start(), [loaded]);
  return { data: loaded.data.value, problem: loaded.problem.value, refresh: loaded.refresh };
}

/** Follow the hints of the engine while somebody is logged in. `connected` is called when the stream comes or goes. */
export function followEngine(connected: () => void): void {
  let last = 0;
  let pace = FASTEST_MS;
  let pending: ReturnType<typeof setTimeout> | undefined;
  const hint = (): void => {
    if (pending !== undefined) return;
    const now = Date.now();
    const rested = now - last >= 2 * pace;
    pace = rested ? FASTEST_MS : Math.min(SLOWEST_MS, pace * 2);
    // By the clock: all open pages ask at once, and share what is read.
    const wait = rested ? 0 : pace - (now % pace);
    pending = setTimeout(() => {
      pending = undefined;
      last = Date.now();
      changes.value += 1;
    }, wait);
  };
  const missed = (): void => {
    hint();
    connected();
  };
  let stop: (() => void) | undefined;
  effect(() => {
    if (session.value) stop ??= stream("/ws/engine/changes", {}, { event: hint, missed, closed: connected });
    else {
      stop?.();
      stop = undefined;
    }
  });
}
