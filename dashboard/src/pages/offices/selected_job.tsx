// A job of an office beside its graph: what it is, why it waits, and what can be done with it.
import type { JSX } from "preact";
import { call, curl } from "../../lib/api";
import { duration, number, since } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { link } from "../../lib/router";
import { reasonText } from "../../lib/server_texts";
import { t } from "../../lib/texts";
import { Act, Copies } from "../../ui/act";
import { attempt, Shape } from "../../ui/parts";
import { Reason } from "../../ui/reason";
import type { OfficeJob } from "./data";
import { UNFINISHED } from "./data";
import { STATE_OF, statusWord, w } from "./texts";

interface SelectedProps {
  office: string;
  job: OfficeJob;
  before: number;
  after: number;
  nameOf: (id: string) => string | undefined;
  refresh: () => void;
}

export function SelectedJob({ office, job, before, after, nameOf, refresh }: SelectedProps): JSX.Element {
  const path = { id: office, jobId: job.id };
  const { data, refresh: again } = useLoaded(
    async (left) => {
      const detail = await call("GET /api/offices/{id}/jobs/{jobId}", { path }, left);
      const waits = detail.status === "pending" || detail.status === "ready";
      const why = waits ? await call("GET /api/offices/{id}/jobs/{jobId}/explain", { path }, left) : null;
      return { detail, why };
    },
    `${job.id} ${job.status}`,
    10_000,
  );
  const unfinished = UNFINISHED.has(job.status);
  const move = (action: "cancel" | "retry") => async (): Promise<void> => {
    await attempt(async () => void (await call(`POST /api/offices/{id}/jobs/{jobId}/${action}`, { path })));
    refresh();
    again();
  };
  const urgent = async (): Promise<void> => {
    const body = { urgent: !data?.detail.urgent };
    await attempt(async () => void (await call("PATCH /api/offices/{id}/jobs/{jobId}/priority", { path, body })));
    again();
  };
  const detail = data?.detail;
  const ends = detail?.completed_at ?? detail?.cancelled_at;
  const lasted = detail?.started_at
    ? ends
      ? (Date.parse(ends) - Date.parse(detail.started_at)) / 1000
      : since(detail.started_at)
    : null;
  return (
    <>
      <h3>
        <a href={link(["jobs", job.id])}>{job.name}</a>
      </h3>
      <p>
        <span class={`state ${STATE_OF[job.status]}`}>
          <Shape state={STATE_OF[job.status]} />
          {statusWord(job.status)}
        </span>{" "}
        {job.role && <span class="badge">{job.role}</span>}{" "}
        {detail?.urgent && <span class="badge bad">{t("urgent")}</span>}
      </p>
      {lasted !== null && (
        <p>
          {t("took")} {duration(lasted)}
          {detail && detail.executions.length > 1 ? ` · ${t("attempt")} ${detail.executions.length}` : ""}
        </p>
      )}
      {detail?.error_message && <p class="failedtext">{detail.error_message}</p>}
      {data?.why && (
        <ul class="reasons">
          {data.why.reasons.slice(0, 5).map((each, index) => (
            <li key={index}>
              <Reason text={reasonText(each)} nameOf={nameOf} />
            </li>
          ))}
        </ul>
      )}
      <p class="faint">
        {before > 0 && w("waitsFor", number(before))}
        {before > 0 && after > 0 && " · "}
        {after > 0 && w("waitedFor", number(after))}
      </p>
      <div class="row">
        {unfinished && (
          <Act confirm onClick={move("cancel")}>
            {t("cancel")}
          </Act>
        )}
        {(job.status === "failed" || job.status === "cancelled") && (
          <Act kind="main" confirm onClick={move("retry")}>
            {t("retry")}
          </Act>
        )}
        {unfinished && <Act onClick={urgent}>{w(detail?.urgent ? "makeNotUrgent" : "makeUrgent")}</Act>}
        <a class="btn plain" href={link(["jobs", job.id])}>
          {w("openJob")}
        </a>
        <Copies
          of={[
            ...(unfinished
              ? [
                  {
                    name: t("cancel"),
                    curl: curl("POST /api/offices/{id}/jobs/{jobId}/cancel", { path }),
                    command: `hanbeon cancel ${job.id}`,
                  },
                  {
                    name: w(detail?.urgent ? "makeNotUrgent" : "makeUrgent"),
                    curl: curl("PATCH /api/offices/{id}/jobs/{jobId}/priority", {
                      path,
                      body: { urgent: !detail?.urgent },
                    }),
                    command: `hanbeon priority ${job.id} ${detail?.urgent ? "--not-urgent" : "--urgent"}`,
                  },
                ]
              : job.status === "done"
                ? []
                : [
                    {
                      name: t("retry"),
                      curl: curl("POST /api/offices/{id}/jobs/{jobId}/retry", { path }),
                      command: `hanbeon retry ${job.id}`,
                    },
                  ]),
            {
              name: t("job"),
              curl: curl("GET /api/offices/{id}/jobs/{jobId}", { path }),
              command: `hanbeon job ${job.id}`,
            },
          ]}
        />
      </div>
    </>
  );
}
