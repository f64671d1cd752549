// Chains that have stopped where an undo failed, on the first page: one that was undone as designed is no failure.
import type { JSX } from "preact";
import { call } from "../../lib/api";
import { useLoaded } from "../../lib/live";
import { link } from "../../lib/router";
import { w } from "./texts";

const MOST = 5;

export function BlockedChains(): JSX.Element | null {
  const { data } = useLoaded(
    (left) => call("GET /api/chains", { query: { state: "BLOCKED", limit: MOST } }, left),
    "",
    10_000,
    null,
  );
  if (!data || data.items.length === 0) return null;
  return (
    <p class="banner bad" role="alert">
      {w("blockedChains")}{" "}
      {data.items.map((each) => (
        <a key={each.queue_id} class="inline" href={link(["chains", String(each.queue_id)])}>
          {w("chainNumber", each.queue_id)}{" "}
        </a>
      ))}
      {data.next_cursor && "…"}
    </p>
  );
}
