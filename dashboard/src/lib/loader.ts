// Data of the server as pages show it: read when a page opens, kept up to date, and cancelled when the page is left.
import { batch, type Signal, signal } from "@preact/signals";
import { Problem } from "./api";

/** Reads the data; `left` is aborted when nobody shows it any longer. */
export type Read<T> = (left: AbortSignal) => Promise<T>;
/** Calls back whenever the data may have changed; returns how to stop. */
export type Follow = (changed: () => void) => () => void;

export interface Loader<T> {
  data: Signal<T | undefined>;
  problem: Signal<Problem | undefined>;
  refresh: () => void;
  /** Begin; returns how to stop, which cancels what is being read. */
  start: () => () => void;
}

/** A timer as slow as the hints must not go off in the same moment as one. */
const AFTER_HINTS_MS = 500;

/** Read now, every so often, and when something changed: one request at a time, and none while the page is hidden. */
export function loader<T>(read: Read<T>, everyMs: number, follow: Follow | null): Loader<T> {
  const data = signal<T | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  let refresh = (): void => undefined;

  const start = (): (() => void) => {
    const left = new AbortController();
    let reading = false;
    let again = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      if (reading) {
        again = true;
        return;
      }
      reading = true;
      arm();
      try {
        const found = await read(left.signal);
        if (!left.signal.aborted) batch(() => ([data.value, problem.value] = [found, undefined]));
      } catch (error) {
        if (!left.signal.aborted) {
          if (!(error instanceof Problem)) throw error;
          problem.value = error;
        }
      } finally {
        reading = false;
        if (again && !left.signal.aborted) {
          again = false;
          void run();
        }
      }
    };
    const tick = (): void => {
      arm();
      if (!document.hidden) void run();
    };
    // What follows changes counts from the last request: it is not asked for twice. The rest is asked for when all open
    // pages do, by the clock, so that the server reads it once for all of them.
    const arm = (): void => {
      clearTimeout(timer);
      if (left.signal.aborted || everyMs === Infinity) return;
      timer = setTimeout(tick, follow ? everyMs + AFTER_HINTS_MS : everyMs - (Date.now() % everyMs));
    };
    refresh = () => void run();
    void run();
    document.addEventListener("visibilitychange", tick);
    const unfollow = follow?.(tick);
    return () => {
      left.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", tick);
      unfollow?.();
    };
  };
  return { data, problem, refresh: () => refresh(), start };
}
