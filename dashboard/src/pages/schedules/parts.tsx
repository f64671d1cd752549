// What the list and the page of a schedule share: its name, its times in words, its next fire, and the moves it allows.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { call, curl, type Schedule } from "../../lib/api";
import { duration, time } from "../../lib/format";
import { t } from "../../lib/texts";
import { Act, type Command, quoted } from "../../ui/act";
import { attempt } from "../../ui/parts";
import { cronWords } from "./cron_words";
import { w } from "./texts";

const now = signal(Date.now());

/** Times to come count down while they are in sight. */
export function useSeconds(): void {
  useEffect(() => {
    const timer = setInterval(() => void (document.hidden || (now.value = Date.now())), 1_000);
    return () => clearInterval(timer);
  }, []);
  void now.value;
}

export const nameOf = (schedule: Schedule): string => schedule.name ?? schedule.task_id;
export const timesOf = (schedule: Schedule): string =>
  schedule.every
    ? w("everySpan", duration(schedule.every))
    : schedule.cron
      ? cronWords(schedule.cron) || schedule.cron
      : w("once", time(schedule.run_at));

async function runNow(schedule: Schedule): Promise<string> {
  const path = { task_id: schedule.task_id };
  const made = await call("POST /api/tasks/{task_id}/executions", { path, body: { args: schedule.args } });
  return w("ran", made.execution_id);
}

export function commandsOf(schedule: Schedule): Command[] {
  const path = { id: schedule.id };
  const hasArgs = Object.keys(schedule.args).length > 0;
  const move = schedule.paused ? "resume" : "pause";
  return [
    {
      name: w("runNow"),
      curl: curl("POST /api/tasks/{task_id}/executions", {
        path: { task_id: schedule.task_id },
        body: { args: schedule.args },
      }),
      command: [
        "hanbeon run",
        quoted(schedule.task_id),
        ...(hasArgs ? [quoted(JSON.stringify(schedule.args))] : []),
      ].join(" "),
    },
    {
      name: t(move),
      curl: curl(`POST /api/schedules/{id}/${move}`, { path }),
      command: `hanbeon schedule ${move} ${schedule.id}`,
    },
    {
      name: w("del"),
      curl: curl("DELETE /api/schedules/{id}", { path }),
      command: `hanbeon schedule delete ${schedule.id}`,
    },
  ];
}

export function NextFire({ schedule }: { schedule: Schedule }): JSX.Element {
  if (schedule.paused) return <span class="badge">{w("paused")}</span>;
  if (!schedule.next_fire_at) return <span class="faint">{w("never")}</span>;
  const seconds = (Date.parse(schedule.next_fire_at) - now.value) / 1000;
  return (
    <span class="nextfire" title={time(schedule.next_fire_at)}>
      {seconds < 0.5 ? w("due") : w("inTime", duration(Math.round(seconds)))}
      <small>{time(schedule.next_fire_at)}</small>
    </span>
  );
}

export function Moves({ schedule, after }: { schedule: Schedule; after: () => void }): JSX.Element {
  const move = schedule.paused ? "resume" : "pause";
  const act = (action: () => Promise<string | undefined>) => async (): Promise<void> => {
    await attempt(action);
    after();
  };
  return (
    <>
      <Act label={`${w("runNow")}: ${nameOf(schedule)}`} onClick={act(() => runNow(schedule))}>
        {w("runNow")}
      </Act>{" "}
      <Act
        confirm={!schedule.paused}
        label={`${t(move)}: ${nameOf(schedule)}`}
        onClick={act(async () => void (await call(`POST /api/schedules/{id}/${move}`, { path: { id: schedule.id } })))}
      >
        {t(move)}
      </Act>
    </>
  );
}
