// One task: how it runs, who serves it, how its latest jobs went, and a form for a new job.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { call, curl, type NewEngineJob, Problem, type Task } from "../../lib/api";
import { ago, duration, number, short, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { go, link, place } from "../../lib/router";
import { t } from "../../lib/texts";
import { Copies, Crumb, quoted } from "../../ui/act";
import { ArgumentFields, type Arguments } from "../../ui/arguments";
import { Chart } from "../../ui/chart";
import { Button, Empty, Failure, Panel, StateMark, say, useHeading, Waiting, wordsOf } from "../../ui/parts";
import { TASKS } from "./names";
import { statisticsOf, type TaskStatistics } from "./task_statistics";
import { w } from "./task_texts";
import { parametersOf } from "./tasks";

const LOOKED_AT = 200;
const LISTED = 20;

export function TaskPage({ id }: { id: string }): JSX.Element {
  const path = { task_id: id };
  const task = useLoaded((left) => call("GET /api/tasks/{task_id}", { path }, left), id, 30_000, null);
  useHeading(id);
  const isOpen = useSignal(place.value.query.has("new"));
  if (task.problem && !task.data) return <Failure problem={task.problem} />;
  if (!task.data) return <Waiting lines={8} />;
  return (
    <>
      <Crumb list={TASKS()} href={link(["tasks"])}>
        {id}
      </Crumb>
      <Head task={task.data} open={() => (isOpen.value = true)} />
      {isOpen.value && <NewJob key={id} task={task.data} />}
      <Latest task={id} />
    </>
  );
}

function Head({ task, open }: { task: Task; open: () => void }): JSX.Element {
  const instances = useLoaded((left) => call("GET /api/engine/instances", {}, left), "", 10_000, null);
  const serving = (instances.data?.items ?? []).filter((each) => each.alive && each.tasks.includes(task.task_id));
  const facts: [string, JSX.Element | string][] = [
    [w("parameters"), <code>{parametersOf(task)}</code>],
    [t("queue"), <a href={link(["jobs"], { queue: task.queue })}>{task.queue}</a>],
    [t("priority"), number(task.priority)],
    [w("retries"), number(task.max_retries)],
    [w("timeLimit"), task.timeout_ms === null ? t("noLimit") : duration(task.timeout_ms / 1000)],
    [
      w("workers"),
      task.live === 0 ? (
        <span class="badge bad">{w("nobody")}</span>
      ) : (
        <a href={link(["instances"])}>{serving.map((each) => each.name).join(", ") || number(task.live)}</a>
      ),
    ],
    [w("registered"), time(task.registered_at)],
  ];
  if (task.role) facts.push([t("role"), task.role]);
  return (
    <Panel
      class="jobhead"
      title={task.task_id}
      actions={
        <Button admin kind="main" onClick={open}>
          {w("newJob")}
        </Button>
      }
    >
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

/** Options of a job in the units of the form, and what they are in those of the API. */
const OPTIONS = {
  delay: { label: () => w("delay"), initial: () => "0", sent: (value: number) => ({ delay: value }) },
  priority: {
    label: () => t("priority"),
    initial: (task: Task) => String(task.priority),
    sent: (value: number) => ({ priority: value }),
  },
  max_retries: {
    label: () => w("retries"),
    initial: (task: Task) => String(task.max_retries),
    sent: (value: number) => ({ max_retries: value }),
  },
  timeout: {
    label: () => w("timeLimit"),
    initial: (task: Task) => (task.timeout_ms === null ? t("noLimit") : String(task.timeout_ms / 1000)),
    sent: (value: number) => ({ timeout_ms: Math.round(value * 1000) }),
  },
} as const;
type Option = keyof typeof OPTIONS;
const NAMES: Option[] = ["delay", "priority", "max_retries", "timeout"];

function NewJob({ task }: { task: Task }): JSX.Element {
  const args = useSignal<Arguments | null>({});
  const asked = useSignal(false);
  const problem = useSignal<{ field: string | null; text: string } | null>(null);
  const queue = useSignal("");
  const options = useSignal<Partial<Record<Option, string>>>({});
  const given = NAMES.filter((each) => options.value[each]?.trim());
  const wrong = given.filter((each) => !Number.isFinite(Number(options.value[each])));
  const body: NewEngineJob = { task: task.task_id, args: args.value ?? {} };
  if (queue.value.trim()) body.queue = queue.value.trim();
  for (const each of given) Object.assign(body, OPTIONS[each].sent(Number(options.value[each])));
  const send = async (): Promise<void> => {
    asked.value = true;
    problem.value = null;
    if (args.value === null || wrong.length) return;
    try {
      const made = await call("POST /api/engine/jobs", { body });
      say(w("created", short(made.id)));
      go(["jobs", made.id]);
    } catch (error) {
      problem.value = { field: error instanceof Problem ? error.field : null, text: wordsOf(error) };
    }
  };
  const isOf = (option: Option): boolean => problem.value?.field === (option === "timeout" ? "timeout_ms" : option);
  return (
    <Panel title={w("newJob")}>
      <form
        class="newjob"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <ArgumentFields
          schema={task.parameters}
          given={{}}
          change={(found) => (args.value = found)}
          asked={asked.value}
        />
        <details>
          <summary>{w("options")}</summary>
          <div class="fields">
            <label>
              <span>{t("queue")}</span>
              <input
                name="queue"
                value={queue.value}
                placeholder={task.queue}
                spellcheck={false}
                onInput={(event) => (queue.value = event.currentTarget.value)}
              />
            </label>
            {NAMES.map((each) => (
              <label key={each}>
                <span>{OPTIONS[each].label()}</span>
                <input
                  name={each}
                  inputMode="decimal"
                  placeholder={OPTIONS[each].initial(task)}
                  value={options.value[each] ?? ""}
                  aria-invalid={wrong.includes(each) || isOf(each)}
                  onInput={(event) => (options.value = { ...options.value, [each]: event.currentTarget.value })}
                />
                {(wrong.includes(each) || isOf(each)) && (
                  <small class="failedtext" role="alert">
                    {isOf(each) ? problem.value?.text : w("asNumber")}
                  </small>
                )}
              </label>
            ))}
          </div>
        </details>
        {problem.value && !NAMES.some(isOf) && (
          <p class="failure" role="alert">
            {problem.value.text}
          </p>
        )}
        <div class="row">
          <Button admin kind="main" onClick={send}>
            {t("enqueue")}
          </Button>
          {args.value !== null && (
            <Copies
              of={[
                {
                  name: t("enqueue"),
                  curl: curl("POST /api/engine/jobs", { body }),
                  ...(given.length || body.queue
                    ? {}
                    : {
                        command: ["hanbeon enqueue", quoted(task.task_id), quoted(JSON.stringify(args.value))].join(
                          " ",
                        ),
                      }),
                },
              ]}
            />
          )}
        </div>
      </form>
    </Panel>
  );
}

/** The latest jobs of a task, and what they say about it. */
function Latest({ task }: { task: string }): JSX.Element {
  const { data, problem } = useLoaded(
    (left) => call("GET /api/engine/jobs", { query: { task, limit: LOOKED_AT } }, left),
    task,
    10_000,
  );
  const statistics = useMemo(() => statisticsOf(data?.items ?? []), [data]);
  if (problem && !data) return <Failure problem={problem} />;
  if (!data) return <Waiting lines={6} />;
  if (data.items.length === 0)
    return (
      <Panel>
        <Empty>{w("noJobs")}</Empty>
      </Panel>
    );
  return (
    <>
      <Numbers of={statistics} />
      <Panel
        title={t("jobs")}
        actions={
          <a class="btn plain" href={link(["jobs"], { task })}>
            {w("allJobs")}
          </a>
        }
      >
        <table class="stacked">
          <thead>
            <tr>
              <th>{t("state")}</th>
              <th>{t("id")}</th>
              <th>{t("created")}</th>
              <th class="r">{t("took")}</th>
              <th>{t("error")}</th>
            </tr>
          </thead>
          <tbody>
            {data.items.slice(0, LISTED).map((job) => (
              <tr key={job.id}>
                <td>
                  <StateMark state={job.state} />
                </td>
                <td data-label={t("id")}>
                  <a class="nowrap" href={link(["jobs", job.id])}>
                    <code>{short(job.id)}</code>
                  </a>
                </td>
                <td class="nowrap" data-label={t("created")} title={time(job.created_at)}>
                  {ago(job.created_at)}
                </td>
                <td class="r" data-label={t("took")}>
                  {job.started_at && job.finished_at
                    ? duration((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000)
                    : "–"}
                </td>
                <td class="stretch failedtext" data-label={t("error")}>
                  <span class="clip" title={job.error_message ?? ""}>
                    {job.error_message ?? ""}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </>
  );
}

function Numbers({ of }: { of: TaskStatistics }): JSX.Element {
  const times = useMemo(() => of.steps.map((each) => each.at), [of]);
  const [succeeded, failed] = [t("succeeded"), t("failed")];
  const outcomes = useMemo(
    () => [
      { label: succeeded, colour: "--accent" as const, values: of.steps.map((each) => each.succeeded) },
      { label: failed, colour: "--bad" as const, dashed: true, values: of.steps.map((each) => each.failed) },
    ],
    [of, succeeded, failed],
  );
  const runs = useMemo(
    () => [
      { label: "p50", colour: "--accent" as const, values: of.steps.map((each) => positive(each.p50)) },
      { label: "p95", colour: "--faint" as const, values: of.steps.map((each) => positive(each.p95)) },
    ],
    [of],
  );
  const ended = of.succeeded + of.failed;
  const hours = of.from !== null && of.to !== null ? (of.to - of.from) / 3_600_000 : 0;
  return (
    <Panel title={w("latest", number(of.jobs))}>
      <p class="faint hint">{w("latestHint")}</p>
      <dl class="facts">
        <div>
          <dt>{w("shareFailed")}</dt>
          <dd>{ended ? `${number((100 * of.failed) / ended, 1)} % (${number(of.failed)})` : "–"}</dd>
        </div>
        <div>
          <dt>{w("perHour")}</dt>
          <dd>{hours > 0 ? number(ended / hours, 1) : "–"}</dd>
        </div>
        <div>
          <dt>{w("p50")}</dt>
          <dd>{duration(of.p50)}</dd>
        </div>
        <div>
          <dt>{w("p95")}</dt>
          <dd>{duration(of.p95)}</dd>
        </div>
      </dl>
      {of.steps.length > 1 && (
        <div class="two">
          <div>
            <h3 class="chartname">{w("outcomes")}</h3>
            <Chart times={times} lines={outcomes} show={(value) => number(value)} label={w("outcomes")} />
          </div>
          <div>
            <h3 class="chartname">{w("latency")}</h3>
            <Chart times={times} lines={runs} show={duration} log label={w("latency")} />
          </div>
        </div>
      )}
    </Panel>
  );
}

/** A scale by powers of ten has no zero. */
const positive = (seconds: number | null): number | null => (seconds === null ? null : Math.max(seconds, 0.0001));
