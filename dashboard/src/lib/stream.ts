// Events of one object over its WebSocket, from now on; closed with the page.
import { FROM_NOW_ON } from "./live";

const RECONNECT_MS = 2_000;

export interface StreamEvent {
  type: string;
  [name: string]: unknown;
}

/** Follow the events of `path`. `missed` is called on every (re)connection and gap: read the present state then. Returns how to stop. */
export function follow(path: string, event: (each: StreamEvent) => void, missed: () => void): () => void {
  let stopped = false;
  let socket: WebSocket;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    const url = new URL(`${path}?after=${FROM_NOW_ON}`, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(url);
    socket.onmessage = (message: MessageEvent<string>) => {
      const each = JSON.parse(message.data) as StreamEvent;
      if (each.type === "opened" || each.type === "gap") missed();
      else event(each);
    };
    socket.onclose = () => {
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
