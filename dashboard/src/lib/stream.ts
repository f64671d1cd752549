// Events of one object over its WebSocket, from now on.
import { filledPath, type Streams } from "./api";

const RECONNECT_MS = 2_000;
/** A cursor ahead of all events: the stream begins with the next one instead of all that are kept. */
const FROM_NOW_ON = String(Number.MAX_SAFE_INTEGER);

export interface Follower<E> {
  event: (each: E) => void;
  /** Called on every (re)connection and gap: events may have been missed, so read the present state. */
  missed: () => void;
  closed?: () => void;
}

/** Follow the events of a channel. Returns how to stop. */
export function stream<K extends keyof Streams>(
  name: K,
  path: Streams[K]["path"],
  follower: Follower<Streams[K]["result"]>,
): () => void {
  let stopped = false;
  let socket: WebSocket;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const url = new URL(`${filledPath(name, path)}?after=${FROM_NOW_ON}`, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const open = (): void => {
    socket = new WebSocket(url);
    socket.onmessage = (message: MessageEvent<string>) => {
      const each = JSON.parse(message.data);
      if (each.type === "opened" || each.type === "gap") follower.missed();
      else follower.event(each);
    };
    socket.onclose = () => {
      follower.closed?.();
      if (!stopped) timer = setTimeout(open, RECONNECT_MS);
    };
  };
  open();
  return () => {
    stopped = true;
    clearTimeout(timer);
    socket.close();
  };
}
