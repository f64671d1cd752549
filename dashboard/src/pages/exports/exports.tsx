// Exports: upload a replay, turn it into a video or a picture, watch the progress, play and download the result.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import {
  call,
  curl,
  type Export,
  type ExportEvent,
  type ExportEventType,
  type ExportStatus,
  Problem,
  type Replay,
  type State,
} from "../../lib/api";
import { duration, number, time } from "../../lib/format";
import { engineChanges, useLoaded } from "../../lib/live";
import type { Follow } from "../../lib/loader";
import { link, place } from "../../lib/router";
import { phaseText, reasonText } from "../../lib/server_texts";
import { stream } from "../../lib/stream";
import { named } from "../../lib/surface";
import { Act, Copies, canWrite } from "../../ui/act";
import { attempt, Bar, Button, Empty, Failure, Panel, Shape, say, Waiting, wordsOf } from "../../ui/parts";
import { NAME } from "./surface";
import { w } from "./texts";
import { upload } from "./upload";

const SIZE = 12;
const REPLAYS = 100;
const UPLOAD = (): string =>
  `curl -X POST -H "Authorization: Bearer $HANBEON_TOKEN" -F file=@replay.jsonl "${location.origin}/api/replays"`;
const SHAPES: Record<ExportStatus, State> = {
  QUEUED: "ready",
  RUNNING: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  CANCELLED: "cancelled",
};
/** Events after which an export has another state. */
const ENDS: Record<ExportEventType, boolean> = {
  "job.progress": false,
  "job.completed": true,
  "job.failed": true,
  "job.cancelled": true,
};
/** What the event stream says of an export that is under way. */
interface Progress {
  progress: number;
  phase: string | undefined;
  message: string | undefined;
}

const unfinished = (each: Export): boolean => each.status === "QUEUED" || each.status === "RUNNING";
const resultOf = (each: Export): string => `/api/jobs/${each.jobId}/result`;

export function Exports(): JSX.Element {
  const page = Math.max(0, Number(place.value.query.get("page") ?? 0) || 0);
  const replays = useLoaded((left) => call("GET /api/replays", { query: { size: REPLAYS } }, left), "", 30_000, null);
  const live = useSignal<ReadonlyMap<number, Progress>>(new Map());
  const follow: Follow = (changed) => {
    const event = (each: ExportEvent): void => {
      const { jobId, progress, phase, message } = each;
      if (ENDS[each.type]) changed();
      else live.value = new Map(live.value).set(jobId, { progress: progress ?? 0, phase, message });
    };
    const stops = [engineChanges(changed), stream("/ws/jobs", {}, { event, missed: changed })];
    return () => {
      for (const stop of stops) stop();
    };
  };
  const exports = useLoaded(
    (left) => call("GET /api/jobs", { query: { page, size: SIZE } }, left),
    String(page),
    10_000,
    follow,
  );
  if (exports.problem && !exports.data) return <Failure problem={exports.problem} />;
  if (!exports.data || !replays.data) return <Waiting lines={8} />;
  const titles = new Map(replays.data.items.map((each) => [each.replayId, each.title || each.name]));
  const { items, total } = exports.data;
  const shown = items.map((each) => (unfinished(each) ? { ...each, ...progressOf(live.value.get(each.jobId)) } : each));
  return (
    <>
      <Replays replays={replays.data.items} refresh={replays.refresh} begun={exports.refresh} />
      <Panel
        title={named(NAME)}
        actions={<Copies of={[{ name: named(NAME), curl: curl("GET /api/jobs"), command: "hanbeon export list" }]} />}
      >
        {total === 0 ? (
          <Empty command="hanbeon export mp4 1 --wait --output match.mp4">{w("noExports")}</Empty>
        ) : (
          <ul class="gallery">
            {shown.map((each) => (
              <Card
                key={each.jobId}
                of={each}
                title={titles.get(each.replayId) ?? w("replay", each.replayId)}
                refresh={exports.refresh}
              />
            ))}
          </ul>
        )}
        {total > SIZE && (
          <p class="center row pages">
            <a
              class="btn plain"
              aria-disabled={page === 0}
              href={link(["exports"], { page: String(Math.max(0, page - 1)) })}
            >
              {w("newer")}
            </a>
            <span class="faint">{w("pageOf", page + 1, Math.ceil(total / SIZE))}</span>
            <a
              class="btn plain"
              aria-disabled={(page + 1) * SIZE >= total}
              href={link(["exports"], { page: String((page + 1) * SIZE >= total ? page : page + 1) })}
            >
              {w("older")}
            </a>
          </p>
        )}
      </Panel>
    </>
  );
}

const progressOf = (known: Progress | undefined): Partial<Export> =>
  known ? { progress: known.progress, phase: known.phase ?? "", message: known.message ?? "", status: "RUNNING" } : {};

function Replays(props: { replays: Replay[]; refresh: () => void; begun: () => void }): JSX.Element {
  const width = useSignal("1280x720");
  const [wide = 0, high = 0] = width.value.split("x").map(Number);
  const begin = (replay: Replay, kind: "mp4" | "thumbnail") => (): Promise<boolean> =>
    attempt(async () => {
      const path = { replayId: String(replay.replayId) };
      const made = await call(`POST /api/replays/{replayId}/exports/${kind}`, {
        path,
        body: { width: wide, height: high },
      });
      props.begun();
      return w("begun", made.jobId);
    });
  const remove = (replay: Replay) => async (): Promise<void> => {
    await attempt(async () => {
      await call("DELETE /api/replays/{replayId}", { path: { replayId: String(replay.replayId) } });
      return w("removed");
    });
    props.refresh();
  };
  return (
    <Panel
      title={w("replays")}
      actions={
        <>
          {props.replays.length > 0 && (
            <label class="check">
              {w("size")}{" "}
              <select value={width.value} onChange={(event) => (width.value = event.currentTarget.value)}>
                {["640x360", "1280x720", "1920x1080"].map((each) => (
                  <option key={each} value={each}>
                    {each.replace("x", " × ")}
                  </option>
                ))}
              </select>
            </label>
          )}
          <Copies of={[{ name: w("upload"), curl: UPLOAD(), command: "hanbeon export upload replay.jsonl" }]} />
        </>
      }
    >
      <Upload done={props.refresh} />
      {props.replays.length === 0 ? (
        <Empty command={`curl -F file=@examples/replay.jsonl ${location.origin}/api/replays`}>{w("noReplays")}</Empty>
      ) : (
        <div class="wide">
          <table class="stacked">
            <thead>
              <tr>
                <th>{w("match")}</th>
                <th>{w("file")}</th>
                <th class="r">{w("length")}</th>
                <th class="r">{w("bytes")}</th>
                <th>{w("uploaded")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {props.replays.map((each) => {
                const path = { replayId: String(each.replayId) };
                return (
                  <tr key={each.replayId}>
                    <td>
                      <b>{each.title || each.name}</b> <span class="faint">#{each.replayId}</span>
                    </td>
                    <td class="clip">{each.name}</td>
                    <td class="r" data-label={w("length")}>
                      {duration(each.durationMs / 1000)}
                    </td>
                    <td class="r" data-label={w("bytes")}>{`${number(each.bytes / 1024, 1)} KiB`}</td>
                    <td class="nowrap" data-label={w("uploaded")}>
                      {time(each.createdAt)}
                    </td>
                    <td class="r">
                      <div class="row end">
                        <Act kind="main" label={`MP4 ${each.title}`} onClick={begin(each, "mp4")}>
                          MP4
                        </Act>
                        <Act label={`${w("thumbnail")} ${each.title}`} onClick={begin(each, "thumbnail")}>
                          {w("thumbnail")}
                        </Act>
                        <Act confirm label={`${w("remove")} ${each.title}`} onClick={remove(each)}>
                          {w("remove")}
                        </Act>
                        <Copies
                          row={`${each.title || each.name} #${each.replayId}`}
                          of={[
                            ...(["mp4", "thumbnail"] as const).map((kind) => ({
                              name: kind === "mp4" ? "MP4" : w("thumbnail"),
                              curl: curl(`POST /api/replays/{replayId}/exports/${kind}`, {
                                path,
                                body: { width: wide, height: high },
                              }),
                              command: `hanbeon export ${kind} ${each.replayId} --width ${wide} --height ${high}`,
                            })),
                            {
                              name: w("remove"),
                              curl: curl("DELETE /api/replays/{replayId}", { path }),
                              command: `hanbeon export delete-replay ${each.replayId}`,
                            },
                          ]}
                        />
                      </div>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Upload({ done }: { done: () => void }): JSX.Element {
  const share = useSignal<number | null>(null);
  const over = useSignal(false);
  const send = async (file: File | undefined): Promise<void> => {
    if (!file || share.value !== null) return;
    share.value = 0;
    try {
      const replay = await upload(file, (part) => (share.value = part));
      say(w("uploadedAs", replay.title || replay.name));
      done();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      say(wordsOf(error), true);
    } finally {
      share.value = null;
    }
  };
  const allowed = canWrite();
  return (
    <label
      class={`drop ${over.value ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => (over.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        if (allowed) void send(event.dataTransfer?.files[0]);
      }}
    >
      <span>{share.value === null ? w("drop") : w("uploading", Math.round(share.value * 100))}</span>
      {share.value !== null ? (
        <Bar share={share.value} />
      ) : (
        <span class="btn plain" aria-hidden="true">
          {w("choose")}
        </span>
      )}
      <input
        type="file"
        accept=".jsonl,.json,application/x-ndjson"
        aria-label={w("drop")}
        disabled={!allowed || share.value !== null}
        onChange={(event) => {
          const chosen = event.currentTarget;
          void send(chosen.files?.[0]).then(() => (chosen.value = ""));
        }}
      />
    </label>
  );
}

function Card({ of: each, title, refresh }: { of: Export; title: string; refresh: () => void }): JSX.Element {
  const path = { jobId: String(each.jobId) };
  const cancel = async (): Promise<void> => {
    await attempt(async () => {
      await call("POST /api/jobs/{jobId}/cancel", { path });
      return w("cancelled");
    });
    refresh();
  };
  const name = `${title} #${each.jobId}`;
  return (
    <li class="card" aria-label={name}>
      <div class="stage">
        {each.status !== "SUCCEEDED" ? (
          <Shape state={SHAPES[each.status]} />
        ) : each.jobType === "MP4" ? (
          // biome-ignore lint/a11y/useMediaCaption: recordings of replays have no speech
          <video controls preload="metadata" src={resultOf(each)} aria-label={name} />
        ) : (
          <img src={resultOf(each)} alt={name} loading="lazy" />
        )}
      </div>
      <div class="caption">
        <p>
          <b class="clip">{title}</b> <span class="badge">{each.jobType === "MP4" ? "MP4" : w("thumbnail")}</span>
        </p>
        <p class="row">
          <span class={`state ${SHAPES[each.status]}`}>
            <Shape state={SHAPES[each.status]} />
            {w(each.status)}
          </span>
          {each.status === "RUNNING" && (
            <>
              <Bar share={each.progress / 100} /> <span>{number(each.progress)} %</span>{" "}
              <span class="faint">{phaseText(each.phase)}</span>
            </>
          )}
          {each.status === "SUCCEEDED" && each.startedAt && each.endedAt && (
            <span class="faint">
              {w("in", duration((Date.parse(each.endedAt) - Date.parse(each.startedAt)) / 1000))}
            </span>
          )}
          <span class="faint">#{each.jobId}</span>
        </p>
        {each.errorMessage && <p class="failedtext">{`${each.errorCode ?? ""}: ${each.errorMessage}`}</p>}
        {each.status === "QUEUED" && <WhyQueued jobId={each.jobId} />}
        <p class="row">
          {each.status === "SUCCEEDED" && (
            <a class="btn plain" href={resultOf(each)} download>
              {w("download")}
            </a>
          )}
          {unfinished(each) && (
            <Act confirm label={`${w("cancel")} ${name}`} onClick={cancel}>
              {w("cancel")}
            </Act>
          )}
          <Copies
            row={name}
            of={[
              {
                name: w("show"),
                curl: curl("GET /api/jobs/{jobId}", { path }),
                command: `hanbeon export show ${each.jobId}`,
              },
              ...(each.status === "SUCCEEDED"
                ? [
                    {
                      name: w("download"),
                      curl: `curl -OJ -H "Authorization: Bearer $HANBEON_TOKEN" "${location.origin}${resultOf(each)}"`,
                      command: `hanbeon export download ${each.jobId} replay-${each.replayId}.${each.jobType === "MP4" ? "mp4" : "png"}`,
                    },
                  ]
                : []),
              ...(unfinished(each)
                ? [
                    {
                      name: w("cancel"),
                      curl: curl("POST /api/jobs/{jobId}/cancel", { path }),
                      command: `hanbeon export cancel ${each.jobId}`,
                    },
                  ]
                : []),
            ]}
          />
        </p>
      </div>
    </li>
  );
}

function WhyQueued({ jobId }: { jobId: number }): JSX.Element {
  const reasons = useSignal<string[] | undefined>(undefined);
  const ask = async (): Promise<void> => {
    const found = await call("GET /api/jobs/{jobId}/explain", { path: { jobId: String(jobId) } });
    reasons.value = found.reasons.map((each) => reasonText(each));
  };
  return reasons.value === undefined ? (
    <p>
      <Button onClick={ask}>{w("why")}</Button>
    </p>
  ) : (
    <p class="state pending">{reasons.value.join("; ") || w("nothing")}</p>
  );
}
