// One job whole: what happened and why, its attempts, output, arguments, neighbours, and what can be done with it.

import { SURFACES } from "hanbeon:surfaces";
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, curl, type EngineAttempt, type EngineJobDetail, type Linked, type LogEntry } from "../../lib/api";
import { duration, number, short, since, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { go, link } from "../../lib/router";
import { momentText, reasonText } from "../../lib/server_texts";
import { named } from "../../lib/surface";
import { t } from "../../lib/texts";
import { type Command, Copies, Crumb } from "../../ui/act";
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
  titleOf,
  useHeading,
  Waiting,
  wordsOf,
} from "../../ui/parts";
import { Reason } from "../../ui/reason";
import { Ansi } from "./ansi";
import { attemptStatus } from "./attempt_texts";
import { ByHand } from "./by_hand";

const LOG_PAGE = 1_000;
const LOG_KEPT = 20_000;
const ENDED = ["succeeded", "failed", "cancelled"];

export function Job({ id }: { id: string }): JSX.Element {
  const loaded = useLoaded((left) => call("GET /api/engine/jobs/{jobId}", { path: { jobId: id } }, left), id, 5_000);
  const logOf = useSignal<number | null>(null);
  const job = loaded.data;
  if (loaded.problem && !job) return <Failure problem={loaded.problem} />;
  if (!job) return <Waiting lines={10} />;
  return (
    <>
      <Trail job={job} />
      <Head job={job} refresh={loaded.refresh} />
      {!ENDED.includes(job.state) && <Why id={id} state={job.state} />}
      {job.error_message && <p class="failure">{`${job.failure_type ?? ""}: ${job.error_message}`}</p>}
      {job.failure?.traceback && <Traceback text={job.failure.traceback} open />}
      <ByHand job={job} refresh={loaded.refresh} />
      <Attempts of={job.attempts} chosen={logOf} />
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
      <JobLog id={id} ended={ENDED.includes(job.state)} attempt={logOf} />
      <div class="two">
        <Panel title={t("arguments")}>
          <Tree value={job.args} />
          <Again job={job} />
        </Panel>
        {(job.state === "succeeded" || job.result !== null) && (
          <Panel title={t("result")}>
            <Tree value={job.result} />
          </Panel>
        )}
      </div>
      <div class="two">
        <Neighbours title={t("dependsOn")} jobs={job.depends_on} />
        <Neighbours title={t("dependents")} jobs={job.dependents} />
      </div>
    </>
  );
}

function Traceback({ text, open }: { text: string; open?: boolean }): JSX.Element {
  return (
    <details class="traceback" open={open}>
      <summary>{t("traceback")}</summary>
      <Copy label="copyTraceback" text={text} />
      <section class="trace" tabIndex={0} aria-label={t("traceback")}>
        {text}
      </section>
    </details>
  );
}

/** `chosen`: the attempt whose log alone is shown, or null. */
function Attempts({ of, chosen }: { of: EngineAttempt[]; chosen: Signal<number | null> }): JSX.Element {
  return (
    <Panel title={t("attempts")}>
      {of.length === 0 ? (
        <Empty>–</Empty>
      ) : (
        <table class="stacked attempts">
          <thead>
            <tr>
              <th>{t("attempt")}</th>
              <th>{t("status")}</th>
              <th>{t("started")}</th>
              <th class="r">{t("took")}</th>
              <th>{t("worker")}</th>
              <th>{t("log")}</th>
            </tr>
          </thead>
          <tbody>
            {of.map((each, place) => (
              <AttemptRows key={each.attempt} attempt={each} chosen={chosen} last={place === of.length - 1} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function AttemptRows({
  attempt: each,
  chosen,
  last,
}: {
  attempt: EngineAttempt;
  chosen: Signal<number | null>;
  last: boolean;
}): JSX.Element {
  const took = ((each.ended_at ? Date.parse(each.ended_at) : Date.now()) - Date.parse(each.started_at)) / 1000;
  const isChosen = chosen.value === each.attempt;
  return (
    <>
      <tr>
        <td data-label={t("attempt")}>{each.attempt}</td>
        <td data-label={t("status")}>
          {attemptStatus(each.status)}
          {each.failure_type ? ` · ${each.failure_type}` : ""}
        </td>
        <td class="nowrap" data-label={t("started")}>
          <time dateTime={each.started_at}>{time(each.started_at)}</time>
        </td>
        <td class="r" data-label={t("took")}>
          {duration(took)}
        </td>
        <td class="clip" data-label={t("worker")}>
          {each.instance ?? "–"}
        </td>
        <td data-label={t("log")}>
          <button
            type="button"
            class="link"
            aria-pressed={isChosen}
            aria-label={t("logOfAttempt", String(each.attempt))}
            onClick={() => (chosen.value = isChosen ? null : each.attempt)}
          >
            {t("log")}
          </button>
        </td>
      </tr>
      {each.error_message && (
        <tr class="message">
          <td />
          <td colSpan={5}>
            <span class="failure">{each.error_message}</span>
            {/* That of the last one is above the table. */}
            {!last && each.failure?.traceback && <Traceback text={each.failure.traceback} />}
          </td>
        </tr>
      )}
    </>
  );
}

function Head({ job, refresh }: { job: EngineJobDetail; refresh: () => void }): JSX.Element {
  const share = shareOf(job.progress);
  const path = { jobId: job.id };
  const move = (action: "cancel" | "retry") => async (): Promise<void> => {
    await attempt(async () => {
      const { state } = await call(`POST /api/engine/jobs/{jobId}/${action}`, { path });
      return t(action === "retry" ? "retriedSays" : state === "cancelled" ? "cancelledSays" : "stoppingSays");
    });
    refresh();
  };
  const ended = ENDED.includes(job.state);
  return (
    <Panel
      class="jobhead"
      title={`${t("job")} ${short(job.id)}`}
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
        {job.links.length > 0 && (
          <Fact name={t("links")}>
            {job.links.map((each) => (
              <a key={each.name} class="inline" href={each.url} target="_blank" rel="noreferrer noopener">
                {each.name}{" "}
              </a>
            ))}
          </Fact>
        )}
        {job.role && <Fact name={t("role")}>{job.role}</Fact>}
        {job.concurrency_key && <Fact name={t("key")}>{job.concurrency_key}</Fact>}
        <Fact name={t("task")}>{job.task}</Fact>
        {job.surface && <Made job={job} />}
        <Fact name={t("attempt")}>
          {[
            number(job.attempt),
            ...(job.max_retries ? [t("ofRetries", number(job.retry_count), number(job.max_retries))] : []),
          ].join(" · ")}
        </Fact>
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

interface Making {
  /** The surface's name for its objects, and the address of their list. */
  list: string;
  href: string;
  /** The object that made the job, once it is found, and the address of its page. */
  one: [name: string, href: string] | null;
}

/** What made a job: a schedule, an office, a chain, a workflow; null for one that was enqueued. */
function useMaking(job: EngineJobDetail): Making | null {
  const [, , of, id = ""] = (job.path ?? "").split("/");
  const surface = SURFACES.find(({ maker }) => maker?.of === of);
  const { data } = useLoaded(async () => (await surface?.maker?.find(id)) ?? null, job.path ?? "", Infinity, null);
  const [page] = surface?.pages ?? [];
  if (!page) return null;
  return { list: named(page.title), href: link([page.name]), one: data ? [data[0], link([page.name, data[1]])] : null };
}

/** Where the job is: the list, what made it, its name. */
function Trail({ job }: { job: EngineJobDetail }): JSX.Element {
  const making = useMaking(job);
  const title = titleOf(job);
  useHeading(title);
  return (
    <Crumb list={making?.one ? making.list : t("jobs")} href={making?.one ? making.href : link(["jobs"])}>
      {making?.one && (
        <>
          <a href={making.one[1]}>{making.one[0]}</a> <span aria-hidden="true">›</span>{" "}
        </>
      )}
      <b>{title}</b>
    </Crumb>
  );
}

function Made({ job }: { job: EngineJobDetail }): JSX.Element {
  const making = useMaking(job);
  return (
    <Fact name={t("madeBy")}>
      {making ? <a href={making.href}>{making.list}</a> : job.surface}
      {making?.one && (
        <>
          {" · "}
          <a href={making.one[1]}>{making.one[0]}</a>
        </>
      )}
    </Fact>
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

/** Why it does not run, or what is wrong where it runs. */
function Why({ id, state }: { id: string; state: string }): JSX.Element | null {
  const { data } = useLoaded(
    (left) => call("GET /api/engine/jobs/{jobId}/explain", { path: { jobId: id } }, left),
    `${id} ${state}`,
    5_000,
  );
  if (state === "running" && (data?.reasons.length ?? 0) < 2) return null;
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

/** `attempt`: the only one whose lines are shown, or null for all. */
function JobLog({
  id,
  ended,
  attempt: only,
}: {
  id: string;
  ended: boolean;
  attempt: Signal<number | null>;
}): JSX.Element {
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
  const shown = (lines ?? []).filter(
    (each) =>
      (only.value === null || each.attempt === only.value) &&
      (!needle || (each.text ?? "").toLowerCase().includes(needle)),
  );
  return (
    <Panel
      title={only.value === null ? t("log") : t("logOfAttempt", String(only.value))}
      actions={
        <>
          {only.value !== null && (
            <button type="button" class="link" onClick={() => (only.value = null)}>
              {t("allAttempts")}
            </button>
          )}
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
