// What a queue got done in the last hour, as a line as small as a word.
import type { JSX } from "preact";
import { call } from "../../lib/api";
import { number } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { words } from "../../lib/words";

const w = words({ says: "last hour: {0} succeeded, {1} failed" }, { says: "최근 1시간: 성공 {0}, 실패 {1}" });
const STEP = 300;
const [WIDTH, HEIGHT] = [72, 18];

/** The points of a line through these values, within the box. */
export function pointsOf(values: number[]): string {
  const most = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  return values
    .map((value, index) => `${(index * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`)
    .join(" ");
}

export function Sparkline({ queue }: { queue: string }): JSX.Element {
  const { data } = useLoaded(
    (left) => call("GET /api/engine/statistics", { query: { queue, step: STEP } }, left),
    queue,
    60_000,
    null,
  );
  const steps = data?.items ?? [];
  const sum = (of: "succeeded" | "failed"): number => steps.reduce((total, each) => total + each[of], 0);
  return (
    <svg
      class="sparkline"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={w("says", number(sum("succeeded")), number(sum("failed")))}
    >
      <title>{w("says", number(sum("succeeded")), number(sum("failed")))}</title>
      <polyline points={pointsOf(steps.map((each) => each.succeeded + each.failed))} />
      {sum("failed") > 0 && <polyline class="bad" points={pointsOf(steps.map((each) => each.failed))} />}
    </svg>
  );
}
