// The last fires of a schedule as a strip: one mark for each, the newest to the right. Every outcome has a shape of its own.
import type { JSX } from "preact";
import type { Fire, FireOutcome } from "../../lib/api";
import { number, time } from "../../lib/format";
import { OUTCOMES, reasonWord, w } from "./texts";

const CELL = 9;
const HEIGHT = 18;

type Kind = FireOutcome | "failed" | "unfinished";
const KINDS: Kind[] = OUTCOMES.flatMap((each) => (each === "created" ? [each, "failed", "unfinished"] : [each]));

/** What became of a fire, and of its execution. One whose execution is not kept any more is shown as created. */
function kindOf(fire: Fire): Kind {
  if (fire.status === "FAILED") return "failed";
  return fire.status === "PENDING" || fire.status === "RUNNING" ? "unfinished" : fire.outcome;
}

export function fireSays(fire: Fire): string {
  const parts = [time(fire.fire_at), w(fire.outcome)];
  if (kindOf(fire) !== fire.outcome) parts.push(w(kindOf(fire)));
  if (fire.reason) parts.push(reasonWord(fire.reason));
  if (fire.more) parts.push(w("and", number(fire.more)));
  return parts.join(" · ");
}

function Mark({ outcome, x }: { outcome: Kind; x: number }): JSX.Element {
  if (outcome === "failed") return <path class="failed" d={`M${x + 1} 1h6v9h-6zM${x + 1} 12.5h6v4.5h-6z`} />;
  if (outcome === "unfinished")
    return <rect class="unfinished" x={x + 1.75} y="1.75" width="4.5" height={HEIGHT - 3.5} rx="1.5" />;
  if (outcome === "created") return <rect class="created" x={x + 1} y="1" width="6" height={HEIGHT - 2} rx="1.5" />;
  if (outcome === "skipped") return <rect class="skipped" x={x + 2} y="7.75" width="4" height={HEIGHT - 9.5} rx="1" />;
  if (outcome === "missed") return <path class="missed" d={`M${x + 1.5} 6l5 6m0-6l-5 6`} />;
  return <path class="coalesced" d={`M${x + 2.5} 3v12M${x + 5.5} 3v12`} />;
}

export function FireStrip({ fires, label }: { fires: Fire[]; label?: string }): JSX.Element {
  const shown = [...fires].reverse();
  const counts = KINDS.map((each) => [each, fires.filter((fire) => kindOf(fire) === each).length] as const).filter(
    ([, count]) => count > 0,
  );
  const says = w(
    "stripSays",
    number(fires.length),
    counts.map(([each, count]) => `${w(each)} ${number(count)}`).join(", "),
  );
  return (
    <svg
      class="firestrip"
      width={Math.max(1, shown.length) * CELL}
      height={HEIGHT}
      viewBox={`0 0 ${Math.max(1, shown.length) * CELL} ${HEIGHT}`}
      role="img"
      aria-label={label ? `${label}: ${says}` : says}
    >
      {shown.map((fire, index) => (
        <g key={fire.fire_at}>
          <title>{fireSays(fire)}</title>
          <rect class="cell" x={index * CELL} y="0" width={CELL} height={HEIGHT} />
          <Mark outcome={kindOf(fire)} x={index * CELL} />
        </g>
      ))}
    </svg>
  );
}

/** What the marks of the strip stand for. */
export function StripLegend(): JSX.Element {
  return (
    <span class="striplegend">
      {KINDS.map((each) => (
        <span key={each}>
          <svg width={CELL} height={HEIGHT} class="firestrip" aria-hidden="true">
            <Mark outcome={each} x={0} />
          </svg>
          {w(each)}
        </span>
      ))}
    </span>
  );
}
