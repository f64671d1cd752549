// One job whole: what happened and why, its attempts, output, arguments, neighbours, and what can be done with it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, curl, type EngineJobDetail, type Linked, type LogEntry } from "../../lib/api";
import { duration, number, since, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { go } from "../../lib/router";
import { momentText, reasonText } from "../../lib/server_texts";
import { isText, t } from "../../lib/texts";
import { type Command, Copies } from "../../ui/act";
import {
  attempt,
  Bar,
  Button,
  Copy,
  Empty,
  Failure,
  JobLink,
  Panel,
  QueueName,
  StateMark,
  shareOf,
  Tree,
  Waiting,
  wordsOf,
} from "../../ui/parts";
import { Reason } from "../../ui/reason";
import { Ansi } from "./ansi";
import { attemptStatus } from "./attempt_texts";

const LOG_PAGE = 1_000;
const LOG_KEPT = 20_000;
const ENDED = ["succeeded", "failed", "cancelled"];

export function Job({ id }: { id: string }): JSX.Element {
  const loaded = useLoaded((left) => call("GET /api/engine/jobs/{jobId}", { path: { jobId: id } }, left), id, 5_000);
  const job = loaded.data;
  if (loaded.problem && !job) return <Failure problem={loaded.problem} />;
  if (!job) return <Waiting lines={10} />;
  return (
    <>
      <Head job={job} refresh={loaded.refresh} />
      {!ENDED.includes(job.state) && job.state !== "running" && <Why id={id} state={job.state} />}
      {job.error_message && <p class="failure">{`${job.failure_type ?? ""}: ${job.error_message}`}</p>}
      <div class="two">
        <Panel title={t("timeline")}>
          <ol class="timeline">
            {job.timeline.map((each, index) => (
              <li key={index}>
                <time dateTime={each.at}>{time(each.at)}</time>
                <span>{momentText(each, job.queue, job.attempts)}</span>
              </li>
            ))}
          </ol>
        </Panel>
        <Panel title={t("attempts")}>
          {job.attempts.length === 0 ? (
            <Empty>–</Empty>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>{t("attempt")}</th>
                  <th>{t("status")}</th>
                  <th>{t("worker")}</th>
                  <th class="r">{t("took")}</th>
                </tr>
              </thead>
              <tbody>
                {job.attempts.map((each) => (
                  <tr key={each.attempt}>
                    <td>{each.attempt}</td>
                    <td title={each.error_message ?? ""}>
                      {attemptStatus(each.status)}
                      {each.failure_type ? ` · ${each.failure_type}` : ""}
                    </td>
                    <td class="clip">{each.instance ?? "–"}</td>
                    <td class="r">
                      {duration(
                        ((each.ended_at ? Date.parse(each.ended_at) : Date.now()) - Date.parse(each.started_at)) / 1000,
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Panel>
      </div>
      <JobLog id={id} ended={ENDED.includes(job.state)} />
      <div class="two">
        <Panel title={t("arguments")}>
          <Tree value={job.args} />
          <Again job={job} />
        </Panel>
        <Panel title={t("result")}>
          <Tree value={job.result} />
        </Panel>
      </div>
      <div class="two">
        <Neighbours title={t("dependsOn")} jobs={job.depends_on} />
        <Neighbours title={t("dependents")} jobs={job.dependents} />
      </div>
    </>
  );
}

function Head({ job, refresh }: { job: EngineJobDetail; refresh: () => void }): JSX.Element {
  const share = shareOf(job.progress);
  const path = { jobId: job.id };
  const move = (action: "cancel" | "retry") => async (): Promise<void> => {
    await attempt(async () => void (await call(`POST /api/engine/jobs/{jobId}/${action}`, { path })));
    refresh();
  };
  const ended = ENDED.includes(job.state);
  return (
    <Panel
      class="jobhead"
      title={job.task}
      actions={
        <>
          {!ended && (
            <Button admin confirm onClick={move("cancel")}>
              {t("cancel")}
            </Button>
          )}
          {(job.state === "failed" || job.state === "cancelled") && (
            <Button admin kind="main" onClick={move("retry")}>
              {t("retry")}
            </Button>
          )}
          <Copy label="copyId" text={job.id} />
          <Copies
            of={[
              ...(job.state === "succeeded" ? [] : [ended ? ("retry" as const) : ("cancel" as const)]).map(
                (action) => ({
                  name: t(action),
                  curl: curl(`POST /api/engine/jobs/{jobId}/${action}`, { path }),
                  command: `hanbeon ${action} ${job.id}`,
                }),
              ),
              {
                name: t("job"),
                curl: curl("GET /api/engine/jobs/{jobId}", { path }),
                command: `hanbeon job ${job.id}`,
              },
            ]}
          />
        </>
      }
    >
      <dl class="facts">
        <Fact name={t("state")}>
          <StateMark state={job.state} />
        </Fact>
        <Fact name={t("id")}>
          <code class="id">{job.id}</code>
        </Fact>
        <Fact name={t("queue")}>
          <QueueName name={job.queue} />
        </Fact>
        {job.role && <Fact name={t("role")}>{job.role}</Fact>}
        {job.concurrency_key && <Fact name={t("key")}>{job.concurrency_key}</Fact>}
        {job.surface && <Fact name={t("surface")}>{isText(job.surface) ? t(job.surface) : job.surface}</Fact>}
        <Fact name={t("attempt")}>{`${job.attempt} / ${job.max_retries + 1}`}</Fact>
        <Fact name={t("created")}>{time(job.created_at)}</Fact>
        {job.started_at && <Fact name={t("started")}>{time(job.started_at)}</Fact>}
        {job.finished_at && <Fact name={t("finished")}>{time(job.finished_at)}</Fact>}
        {job.state === "running" && <Fact name={t("age")}>{duration(since(job.started_at))}</Fact>}
        {!ended && <Priority job={job} refresh={refresh} />}
        {job.state === "succeeded" ? null : share !== null ? (
          <Fact name={t("progress")}>
            <Bar share={share} /> {number(share * 100)} %
          </Fact>
        ) : (
          job.progress !== null && (
            <Fact name={t("progress")}>
              <Tree value={job.progress} />
            </Fact>
          )
        )}
      </dl>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Priority({ job, refresh }: { job: EngineJobDetail; refresh: () => void }): JSX.Element {
  const value = useSignal(String(job.priority));
  const path = { jobId: job.id };
  const body = { priority: Number(value.value), urgent: job.urgent };
  const change = async (): Promise<void> => {
    await attempt(async () => void (await call("PATCH /api/engine/jobs/{jobId}/priority", { path, body })));
    refresh();
  };
  return (
    <Fact name={t("priority")}>
      <input
        class="number"
        type="number"
        aria-label={t("priority")}
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
      {job.urgent ? ` ${t("urgent")} ` : " "}
      <Button admin disabled={value.value === String(job.priority)} onClick={change}>
        {t("change")}
      </Button>
      <Copies
        row={t("priority")}
        of={[
          {
            name: t("change"),
            curl: curl("PATCH /api/engine/jobs/{jobId}/priority", { path, body }),
            command: `hanbeon priority ${job.id} --to=${body.priority}`,
          },
        ]}
      />
    </Fact>
  );
}

function Why({ id, state }: { id: string; state: string }): JSX.Element {
  const { data } = useLoaded(
    (left) => call("GET /api/engine/jobs/{jobId}/explain", { path: { jobId: id } }, left),
    `${id} ${state}`,
    5_000,
  );
  return (
    <Panel title={t("why")} class="why">
      {data ? (
        <ul>
          {data.reasons.map((each, index) => (
            <li key={index}>
              <Reason text={reasonText(each)} />
            </li>
          ))}
        </ul>
      ) : (
        <Waiting lines={1} />
      )}
    </Panel>
  );
}

function Neighbours({ title, jobs }: { title: string; jobs: Linked[] }): JSX.Element | null {
  if (jobs.length === 0) return null;
  return (
    <Panel title={`${title} (${number(jobs.length)})`}>
      <ul class="neighbours">
        {jobs.slice(0, 200).map((each) => (
          <li key={each.id}>
            <JobLink id={each.id} task={each.task} state={each.state} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Again({ job }: { job: EngineJobDetail }): JSX.Element {
  const text = useSignal<string | null>(null);
  const problem = useSignal("");
  if (text.value === null) {
    return (
      <p>
        <Button admin onClick={() => void (text.value = JSON.stringify(job.args ?? {}, null, 2))}>
          {t("again")}
        </Button>
      </p>
    );
  }
  const enqueue = async (): Promise<void> => {
    problem.value = "";
    try {
      const args: Record<string, unknown> = JSON.parse(text.value ?? "");
      const made = await call("POST /api/engine/jobs", { body: { copy_of: job.id, args } });
      go(["jobs", made.id]);
    } catch (error) {
      problem.value = error instanceof SyntaxError ? error.message : wordsOf(error);
    }
  };
  return (
    <form class="again" onSubmit={(event) => event.preventDefault()}>
      <textarea
        rows={8}
        spellcheck={false}
        aria-label={t("arguments")}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      {problem.value && (
        <p class="failure" role="alert">
          {problem.value}
        </p>
      )}
      <div class="row">
        <Button admin kind="main" onClick={enqueue}>
          {t("enqueue")}
        </Button>
        <Copies of={againOf(job, text.value)} />
      </div>
    </form>
  );
}

/** No command line makes a copy of a job; none at all while the text is no JSON. */
function againOf(job: EngineJobDetail, text: string): Command[] {
  try {
    const args: Record<string, unknown> = JSON.parse(text);
    return [{ name: t("enqueue"), curl: curl("POST /api/engine/jobs", { body: { copy_of: job.id, args } }) }];
  } catch {
    return [];
  }
}

function JobLog({ id, ended }: { id: string; ended: boolean }): JSX.Element {
  const read = useRef<{ id: string; after: string | undefined; lines: LogEntry[] }>({
    id,
    after: undefined,
    lines: [],
  });
  const follow = useSignal(true);
  const wanted = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  const log = useLoaded(
    async (left) => {
      if (read.current.id !== id) read.current = { id, after: undefined, lines: [] };
      for (let more = true; more && !left.aborted; ) {
        const { after, lines } = read.current;
        const query = { limit: LOG_PAGE, after };
        const page = await call("GET /api/engine/jobs/{jobId}/log", { path: { jobId: id }, query }, left);
        read.current = { id, after: page.after || after, lines: [...lines, ...page.entries].slice(-LOG_KEPT) };
        more = page.more;
      }
      return read.current.lines;
    },
    `${id} ${ended}`,
    ended ? Infinity : 2_000,
  );
  const lines =
    log.data ?? (read.current.id === id && read.current.after !== undefined ? read.current.lines : undefined);
  useEffect(() => {
    if (follow.value && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, follow.value]);
  const needle = wanted.value.toLowerCase();
  const shown = (lines ?? []).filter((each) => !needle || (each.text ?? "").toLowerCase().includes(needle));
  return (
    <Panel
      title={t("log")}
      actions={
        <>
          <input
            class="small"
            placeholder={t("searchLog")}
            aria-label={t("searchLog")}
            value={wanted.value}
            onInput={(event) => (wanted.value = event.currentTarget.value)}
          />
          <label class="check">
            <input type="checkbox" checked={follow.value} onChange={() => (follow.value = !follow.value)} />{" "}
            {t("follow")}
          </label>
        </>
      }
    >
      {lines === undefined ? (
        <Waiting lines={2} />
      ) : lines.length === 0 ? (
        <Empty>{t("noLog")}</Empty>
      ) : (
        <div class="log" role="log" aria-live="off" ref={box} tabIndex={0} aria-label={t("log")}>
          {shown.slice(-2_000).map((each, index) => (
            <div key={`${each.attempt} ${each.line} ${index}`} class={each.stream === "stderr" ? "stderr" : ""}>
              <Ansi text={each.text ?? `… ${number(each.lines ?? 0)}`} />
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}
