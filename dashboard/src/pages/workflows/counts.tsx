// The scheduler's own monitor: counts of runs, what is late, and what comes next. Also on the home page.
import type { JSX } from "preact";
import { call } from "../../lib/api";
import { duration, number } from "../../lib/format";
import { engineChanges, useLoaded } from "../../lib/live";
import { link } from "../../lib/router";
import { named } from "../../lib/surface";
import { t } from "../../lib/texts";
import { Waiting } from "../../ui/parts";
import { NextRun } from "./parts";
import { NAME } from "./surface";
import { w } from "./texts";

const COUNTED = [
  ["pending", "pending"],
  ["running", "running"],
  ["completed", "succeeded"],
  ["failed", "failed"],
] as const;

/** The counts on the first page. */
export const TitledCounts = (): JSX.Element => <Counts titled />;

export function Counts({ titled = false }: { titled?: boolean }): JSX.Element {
  // On the home page, with its title, nothing can be done to workflows: ten seconds are soon enough.
  const { data } = useLoaded(
    (left) => call("GET /api/scheduler/monitor", {}, left),
    "",
    10_000,
    titled ? null : engineChanges,
  );
  if (!data) return <Waiting lines={1} />;
  const worst = data.delayed[0];
  return (
    <dl class={`counts panel ${worst ? "late" : ""}`} aria-label={w("counts")}>
      {titled && (
        <div class="title">
          <dt>
            <a href={link(["workflows"])}>{named(NAME)}</a>
          </dt>
        </div>
      )}
      {COUNTED.map(([name, text]) => (
        <div key={name}>
          <dt>{t(text)}</dt>
          <dd>{number(data[name])}</dd>
        </div>
      ))}
      <div class={worst ? "bad" : ""} role={worst ? "alert" : undefined}>
        <dt>{t("late")}</dt>
        <dd>
          {number(data.delayed.length)}{" "}
          {worst && (
            <a href={link(["workflows", worst.workflow_id, worst.run_id])}>
              <small>
                {worst.name ?? worst.workflow_id} · {w("late", duration(worst.late_seconds))}
              </small>
            </a>
          )}
        </dd>
      </div>
      {data.next[0] && (
        <div>
          <dt>{w("nextRun")}</dt>
          <dd>
            <small>
              <a href={link(["workflows", data.next[0].workflow_id])}>{data.next[0].name ?? ""}</a>{" "}
              <NextRun at={data.next[0].due_at} />
            </small>
          </dd>
        </div>
      )}
    </dl>
  );
}
