// Schedules: the list with next fires and the strip of past ones.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, type Fire, type Schedule } from "../../lib/api";
import { useLoaded } from "../../lib/live";
import { link, place, refine } from "../../lib/router";
import { t } from "../../lib/texts";
import { Copies } from "../../ui/act";
import { PagedTable, usePaged } from "../../ui/paged_table";
import { Empty } from "../../ui/parts";
import { FireStrip, StripLegend } from "./fire_strip";
import { commandsOf, Moves, NextFire, nameOf, timesOf, useSeconds } from "./parts";
import { w } from "./texts";

const PAGE = 50;
const STRIP = 30;
export function Schedules(): JSX.Element {
  useSeconds();
  const query = place.value.query;
  const paused = query.get("paused") ?? "";
  const task = query.get("task_id") ?? "";
  const given = Object.fromEntries(query);
  const schedules = usePaged<Schedule>(
    (cursor, left) =>
      call(
        "GET /api/schedules",
        {
          query: {
            limit: PAGE,
            task_id: task || undefined,
            paused: paused ? paused === "true" : undefined,
            cursor,
          },
        },
        left,
      ),
    `${paused} ${task}`,
    5_000,
  );
  return (
    <>
      <div class="schedulehead">
        <span class="segments" role="group" aria-label={t("status")}>
          {(["", "false", "true"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={paused === each}
              onClick={() => refine({ ...given, paused: each })}
            >
              {w(each === "" ? "all" : each === "true" ? "paused" : "active")}
            </button>
          ))}
        </span>
        <label class="workitem">
          <span>{w("task")}</span>
          <input
            class="small"
            name="task_id"
            value={task}
            spellcheck={false}
            onChange={(event) => refine({ ...given, task_id: event.currentTarget.value.trim() })}
          />
        </label>
        <a class="btn main" href={link(["schedules", "new"])}>
          {w("create")}
        </a>
      </div>
      <PagedTable
        class="schedules stacked"
        of={schedules}
        empty={
          <Empty
            {...(paused || task
              ? {}
              : { command: `hanbeon schedule create report --cron "0 9 * * MON-FRI" --name "daily report"` })}
          >
            {w(paused || task ? "noneMatch" : "none")}
          </Empty>
        }
        moreText={w("loadMore")}
        below={<StripLegend />}
        head={
          <>
            <th>{w("schedule")}</th>
            <th>{w("when")}</th>
            <th>{w("next")}</th>
            <th>{w("history")}</th>
            <td />
          </>
        }
      >
        {schedules.rows.map((each) => (
          <Row key={each.id} schedule={each} after={schedules.refresh} />
        ))}
      </PagedTable>
    </>
  );
}

function Row({ schedule, after }: { schedule: Schedule; after: () => void }): JSX.Element {
  // Read again when it has fired, and now and then.
  const fires = useLoaded(
    (left) => call("GET /api/schedules/{id}/fires", { path: { id: schedule.id }, query: { limit: STRIP } }, left),
    `${schedule.id} ${schedule.last_fire_at}`,
    60_000,
    null,
  );
  const kept = useSignal<Fire[]>([]);
  if (fires.data && fires.data.items !== kept.peek()) kept.value = fires.data.items;
  return (
    <tr>
      <td>
        <a class="strong" href={link(["schedules", schedule.id])}>
          {nameOf(schedule)}
        </a>
        <small class="faint">{schedule.task_id}</small>
      </td>
      <td>
        {timesOf(schedule)}
        <small class="faint">
          {schedule.cron && <code>{schedule.cron}</code>} {schedule.timezone}
        </small>
      </td>
      <td class="nowrap">
        <NextFire schedule={schedule} />
      </td>
      <td>
        {kept.value.length > 0 ? (
          <FireStrip fires={kept.value} label={nameOf(schedule)} />
        ) : (
          <span class="faint">–</span>
        )}
      </td>
      <td class="r nowrap">
        <Moves schedule={schedule} after={after} />
        <Copies row={nameOf(schedule)} of={commandsOf(schedule)} />
      </td>
    </tr>
  );
}
