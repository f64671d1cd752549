// What waits for somebody, on the first page: queues that are paused or late, and tasks that no worker serves.
import type { JSX } from "preact";
import { call, curl, type EngineOverview, type LateQueue } from "../../lib/api";
import { duration, number } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { link } from "../../lib/router";
import { t } from "../../lib/texts";
import { words } from "../../lib/words";
import { Copies, quoted } from "../../ui/act";
import { attempt, Button, QueueName } from "../../ui/parts";

const w = words(
  {
    title: "Waits for somebody",
    paused: "is paused; its oldest ready job has waited {0}",
    late: "is late: its oldest ready job has waited {0}",
    nobody: "No live worker serves it: {0} of the newest {1} ready jobs",
    more: "and {0} more",
  },
  {
    title: "사람을 기다립니다",
    paused: "일시 정지됨. 가장 오래된 준비된 작업이 {0} 기다렸습니다",
    late: "늦음: 가장 오래된 준비된 작업이 {0} 기다렸습니다",
    nobody: "맡은 워커가 없습니다. 최근 준비된 작업 {1}개 가운데 {0}개",
    more: "외 {0}개",
  },
);
const LOOKED_AT = 50;
const SHOWN = 5;

/** Tasks of the newest ready jobs that no live worker serves, and how many of these jobs they have. */
async function unserved(left: AbortSignal): Promise<{ tasks: [string, number][]; jobs: number }> {
  const [jobs, instances] = await Promise.all([
    call("GET /api/engine/jobs", { query: { state: ["ready"], limit: LOOKED_AT } }, left),
    call("GET /api/engine/instances", {}, left),
  ]);
  const served = new Set(instances.items.flatMap((each) => (each.alive ? each.tasks : [])));
  const counts = new Map<string, number>();
  for (const { task } of jobs.items) if (!served.has(task)) counts.set(task, (counts.get(task) ?? 0) + 1);
  return { tasks: [...counts], jobs: jobs.items.length };
}

export function Attention({ now, refresh }: { now: EngineOverview; refresh: () => void }): JSX.Element | null {
  const waits = (now.states.ready ?? 0) > 0;
  const { data } = useLoaded(
    async (left) => (waits ? unserved(left) : { tasks: [], jobs: 0 }),
    String(waits),
    10_000,
    null,
  );
  const tasks = data?.tasks ?? [];
  if (now.paused.length + now.late.length + tasks.length === 0) return null;
  const resume = (name: string) => async (): Promise<void> => {
    await attempt(
      async () => void (await call("PATCH /api/engine/queues/{name}", { path: { name }, body: { paused: false } })),
    );
    refresh();
  };
  const queue = (each: LateQueue, text: "paused" | "late"): JSX.Element => (
    <li key={`${text} ${each.name}`}>
      <a href={link(["jobs"], { queue: each.name, state: "ready" })}>
        <b>
          <QueueName name={each.name} />
        </b>{" "}
        {w(text, duration(each.oldest_ready))}
      </a>{" "}
      {text === "paused" && (
        <>
          <Button admin label={`${t("resume")} ${each.name}`} onClick={resume(each.name)}>
            {t("resume")}
          </Button>
          <Copies
            row={each.name}
            of={[
              {
                name: t("resume"),
                curl: curl("PATCH /api/engine/queues/{name}", { path: { name: each.name }, body: { paused: false } }),
                command: `hanbeon resume ${quoted(each.name)}`,
              },
            ]}
          />
        </>
      )}
    </li>
  );
  const rest =
    now.paused_queues + now.late_queues - Math.min(now.paused.length, SHOWN) - Math.min(now.late.length, SHOWN);
  return (
    <section class="panel attention" role="status">
      <h2>{w("title")}</h2>
      <ul>
        {now.paused.slice(0, SHOWN).map((each) => queue(each, "paused"))}
        {now.late.slice(0, SHOWN).map((each) => queue(each, "late"))}
        {tasks.slice(0, SHOWN).map(([task, count]) => (
          <li key={`task ${task}`}>
            <a href={link(["jobs"], { task, state: "ready" })}>
              <b>{task}</b> {w("nobody", number(count), number(data?.jobs ?? 0))}
            </a>
          </li>
        ))}
        {rest > 0 && <li>{w("more", number(rest))}</li>}
      </ul>
    </section>
  );
}
