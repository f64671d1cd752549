// One schedule: its definition, fire history, next fires and executions; and the page that creates one.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type Fire, type FireOutcome, type Schedule, type SchedulesExecution } from "../../lib/api";
import { ago, duration, number, short, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { go, link } from "../../lib/router";
import { named } from "../../lib/surface";
import { t } from "../../lib/texts";
import { Act, Copies, Crumb } from "../../ui/act";
import { usePaged, WideTable } from "../../ui/paged_table";
import { attempt, Button, Failure, Panel, Shape, Tree, Waiting } from "../../ui/parts";
import { FireStrip, fireSays, StripLegend } from "./fire_strip";
import { Fires, ScheduleForm } from "./form";
import { commandsOf, Moves, NextFire, nameOf, timesOf, useSeconds } from "./parts";
import { NAME } from "./surface";
import { EXECUTION_STATE, OUTCOMES, w } from "./texts";

function NewSchedulePage(): JSX.Element {
  return (
    <>
      <Crumb list={named(NAME)} href={link(["schedules"])}>
        <b>{w("create")}</b>
      </Crumb>
      <Panel>
        <ScheduleForm given={null} done={(id) => go(["schedules", id])} back={() => go(["schedules"])} />
      </Panel>
    </>
  );
}

export const SchedulePage = ({ id }: { id: string }): JSX.Element =>
  id === "new" ? <NewSchedulePage /> : <OneSchedule id={id} />;

function OneSchedule({ id }: { id: string }): JSX.Element {
  useSeconds();
  const editing = useSignal(false);
  const path = { id };
  const loaded = useLoaded((left) => call("GET /api/schedules/{id}", { path }, left), id, 5_000);
  const schedule = loaded.data;
  const preview = useLoaded(
    (left) => call("GET /api/schedules/{id}/preview", { path, query: { n: 8 } }, left),
    `${id} ${schedule?.version} ${schedule?.next_fire_at}`,
    60_000,
    null,
  );
  if (loaded.problem && !schedule) return <Failure problem={loaded.problem} />;
  if (!schedule) return <Waiting lines={10} />;
  const remove = async (): Promise<void> => {
    const isGone = await attempt(async () => {
      await call("DELETE /api/schedules/{id}", { path });
      return w("deleted");
    });
    if (isGone) go(["schedules"]);
  };
  return (
    <>
      <Crumb list={named(NAME)} href={link(["schedules"])}>
        <b>{nameOf(schedule)}</b>
      </Crumb>
      <Panel
        class="jobhead"
        title={timesOf(schedule)}
        actions={
          <>
            <Moves schedule={schedule} after={loaded.refresh} />
            <Button onClick={() => void (editing.value = !editing.value)}>{w("edit")}</Button>
            <Act confirm onClick={remove}>
              {w("del")}
            </Act>
            <Copies of={commandsOf(schedule)} />
          </>
        }
      >
        {editing.value ? (
          <ScheduleForm
            given={schedule}
            done={() => {
              editing.value = false;
              loaded.refresh();
            }}
            back={() => (editing.value = false)}
          />
        ) : (
          <Definition schedule={schedule} />
        )}
      </Panel>
      <div class="two">
        <History schedule={schedule} />
        <Panel title={w("nextFires")}>
          {schedule.paused ? (
            <p class="faint">{w("pausedNext")}</p>
          ) : preview.data ? (
            <Fires fires={preview.data.fires} />
          ) : (
            <Waiting lines={5} />
          )}
        </Panel>
      </div>
      <Executions schedule={schedule} />
    </>
  );
}

function Definition({ schedule }: { schedule: Schedule }): JSX.Element {
  const facts: [string, JSX.Element | string][] = [
    [w("task"), schedule.task_id],
    [
      w(schedule.cron ? "cron" : schedule.every ? "every" : "runAt"),
      <code>{schedule.cron ?? (schedule.every ? duration(schedule.every) : schedule.run_at)}</code>,
    ],
    [w("timezone"), schedule.timezone],
    [w("next"), <NextFire schedule={schedule} />],
    [w("last"), schedule.last_fire_at ? ago(schedule.last_fire_at) : w("never")],
    [
      w("overlapRule"),
      w(schedule.overlap === "allow" ? "overlapAllow" : schedule.overlap === "skip" ? "overlapSkip" : "overlapQueue"),
    ],
    [
      w("misfireRule"),
      w(schedule.misfire === "all" ? "misfireAll" : schedule.misfire === "skip" ? "misfireSkip" : "misfireCoalesce"),
    ],
  ];
  if (schedule.jitter) facts.push([w("jitter"), number(schedule.jitter)]);
  if (schedule.starts_at) facts.push([w("startsAt"), time(schedule.starts_at)]);
  if (schedule.ends_at) facts.push([w("endsAt"), time(schedule.ends_at)]);
  if (Object.keys(schedule.args).length) facts.push([t("arguments"), <Tree value={schedule.args} />]);
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {schedule.declared && (
        <p class="faint">
          {w("declared")}
          {schedule.overridden.length > 0 && ` · ${w("overridden", schedule.overridden.join(", "))}`}
        </p>
      )}
    </>
  );
}

function History({ schedule }: { schedule: Schedule }): JSX.Element {
  const outcome = useSignal<FireOutcome | "">("");
  const fires = usePaged<Fire>(
    (cursor, left) =>
      call(
        "GET /api/schedules/{id}/fires",
        { path: { id: schedule.id }, query: { limit: 60, outcome: outcome.value || undefined, cursor } },
        left,
      ),
    `${schedule.id} ${outcome.value}`,
    5_000,
  );
  return (
    <Panel
      title={w("fireHistory")}
      actions={
        <span class="segments" role="group" aria-label={w("outcome")}>
          {(["", ...OUTCOMES] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={outcome.value === each}
              onClick={() => (outcome.value = each)}
            >
              {each === "" ? w("all") : w(each)}
            </button>
          ))}
        </span>
      }
    >
      {fires.problem && !fires.data ? (
        <Failure problem={fires.problem} />
      ) : !fires.data ? (
        <Waiting lines={4} />
      ) : fires.rows.length === 0 ? (
        <p class="faint">{w("noFires")}</p>
      ) : (
        <>
          <div class="wide">
            <FireStrip fires={fires.rows} />
          </div>
          <StripLegend />
          <ul class="firelist" tabIndex={0} aria-label={w("fireHistory")}>
            {fires.rows.map((fire) => (
              <li key={fire.fire_at}>
                {fire.execution_id ? (
                  <a href={link(["jobs", fire.execution_id])}>{fireSays(fire)}</a>
                ) : (
                  <span class="soft">{fireSays(fire)}</span>
                )}
              </li>
            ))}
          </ul>
          {fires.next && (
            <p class="center">
              <Button onClick={fires.more}>{w("loadMore")}</Button>
            </p>
          )}
        </>
      )}
    </Panel>
  );
}

function Executions({ schedule }: { schedule: Schedule }): JSX.Element {
  const { data, problem, refresh } = useLoaded(
    (left) => call("GET /api/executions", { query: { task_id: schedule.task_id, limit: 20 } }, left),
    schedule.task_id,
    5_000,
  );
  const cancel = (each: SchedulesExecution) => async (): Promise<void> => {
    await attempt(
      async () => void (await call("POST /api/executions/{id}/cancel", { path: { id: each.execution_id } })),
    );
    refresh();
  };
  return (
    <Panel title={`${w("executions")} · ${schedule.task_id}`}>
      {problem && !data ? (
        <Failure problem={problem} />
      ) : !data ? (
        <Waiting lines={4} />
      ) : data.items.length === 0 ? (
        <p class="faint">{w("noExecutions")}</p>
      ) : (
        <WideTable
          class="schedules stacked"
          head={
            <>
              <th>{w("status")}</th>
              <th>{w("type")}</th>
              <th>{w("started")}</th>
              <th class="r">{w("took")}</th>
              <th>{t("worker")}</th>
              <td />
            </>
          }
        >
          {data.items.map((each) => (
            <ExecutionRow key={each.execution_id} execution={each} cancel={cancel(each)} />
          ))}
        </WideTable>
      )}
    </Panel>
  );
}

function ExecutionRow({
  execution,
  cancel,
}: {
  execution: SchedulesExecution;
  cancel: () => Promise<void>;
}): JSX.Element {
  const isCancelled = execution.error_code === "CANCELLED";
  const state = isCancelled ? "cancelled" : EXECUTION_STATE[execution.status];
  const { started_at: started, ended_at: ended } = execution;
  const unfinished = execution.status === "PENDING" || execution.status === "RUNNING";
  return (
    <tr>
      <td>
        <a class={`state ${state}`} href={link(["jobs", execution.execution_id])}>
          <Shape state={state} />
          {t(execution.status === "PENDING" ? "pending" : state)}
        </a>
        {execution.error_message && !isCancelled && (
          <small class="failedtext clip" title={execution.error_message}>
            {execution.error_message}
          </small>
        )}
      </td>
      <td data-label={w("type")}>
        {w(execution.type)}
        {execution.requested_by && <small class="faint">{execution.requested_by}</small>}
      </td>
      <td class="nowrap" data-label={w("started")}>
        {time(started ?? execution.scheduled_at)}
      </td>
      <td class="r" data-label={w("took")}>
        {started ? duration(((ended ? Date.parse(ended) : Date.now()) - Date.parse(started)) / 1000) : "–"}
      </td>
      <td class="clip" data-label={t("worker")}>
        {execution.instance ?? "–"}
      </td>
      <td class="r">
        {unfinished && (
          <>
            <Act confirm label={`${w("cancel")} ${execution.execution_id}`} onClick={cancel}>
              {w("cancel")}
            </Act>
            <Copies
              row={short(execution.execution_id)}
              of={[
                {
                  name: w("cancel"),
                  curl: curl("POST /api/executions/{id}/cancel", { path: { id: execution.execution_id } }),
                  command: `hanbeon cancel ${execution.execution_id}`,
                },
              ]}
            />
          </>
        )}
      </td>
    </tr>
  );
}
