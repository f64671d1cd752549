// Queues: load, limits, pause, and how long each takes to empty at its present rate.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type EngineQueue, type QueueChange } from "../../lib/api";
import { duration, number } from "../../lib/format";
import { isInternal } from "../../lib/own_queues";
import { link, place, refine } from "../../lib/router";
import { t } from "../../lib/texts";
import { type Command, Copies, quoted } from "../../ui/act";
import { PagedTable, usePaged } from "../../ui/paged_table";
import { attempt, Bar, Button, Empty, QueueName } from "../../ui/parts";
import { Sparkline } from "./sparkline";

const PAGE = 100;
const DRAWN = 20;

export function Queues(): JSX.Element {
  const name = place.value.query.get("name") ?? "";
  const queues = usePaged<EngineQueue>(
    (cursor, left) => call("GET /api/engine/queues", { query: { name: name || undefined, limit: PAGE, cursor } }, left),
    name,
    5_000,
  );
  const all = place.value.query.get("all") !== null;
  const shown = queues.rows.filter((each) => all || name || !isInternal(each.name));
  const change = async (queue: EngineQueue, body: QueueChange): Promise<void> => {
    await attempt(async () => {
      const changed = await call("PATCH /api/engine/queues/{name}", { path: { name: queue.name }, body });
      queues.change((row) => [row.name === changed.name ? changed : row]);
    });
    queues.refresh();
  };
  return (
    <>
      <div class="row">
        <input
          class="small"
          type="search"
          placeholder={t("queueName")}
          aria-label={t("queueName")}
          value={name}
          spellcheck={false}
          onInput={(event) => refine({ name: event.currentTarget.value.trim(), all: all ? "1" : "" })}
        />
        <label class="check">
          <input type="checkbox" checked={all} onChange={() => refine({ name, all: all ? "" : "1" })} />{" "}
          {t("internalQueues")}
        </label>
        <Copies
          of={[
            {
              name: t("queues"),
              curl: curl("GET /api/engine/queues", { query: { name: name || undefined } }),
              command: name ? `hanbeon queues --name ${quoted(name)}` : "hanbeon queues",
            },
          ]}
        />
      </div>
      <PagedTable
        class="queues stacked"
        of={{ ...queues, rows: shown }}
        empty={
          name ? (
            <Empty>{t("noQueueMatches")}</Empty>
          ) : (
            <Empty command="hanbeon limit QUEUE --max-concurrent 5 --create">{t("noQueues")}</Empty>
          )
        }
        moreText={t("more")}
        head={
          <>
            <th>{t("queue")}</th>
            <th class="r">{t("pending")}</th>
            <th class="r">{t("ready")}</th>
            <th class="r">{t("running")}</th>
            <th class="r">{t("failed")}</th>
            <th>{t("load")}</th>
            <th class="r">{t("waitBefore")}</th>
            <th class="r">{t("drainTime")}</th>
            <th>{t("limit")}</th>
            <td />
          </>
        }
      >
        {shown.map((queue, index) => (
          <Row key={queue.name} queue={queue} isDrawn={index < DRAWN} change={(body) => change(queue, body)} />
        ))}
      </PagedTable>
    </>
  );
}

/** `limit`: the one that is being typed, or that in force. */
function commandsOf(queue: EngineQueue, limit: number): Command[] {
  const path = { name: queue.name };
  const name = quoted(queue.name);
  const sent = (body: QueueChange): string => curl("PATCH /api/engine/queues/{name}", { path, body });
  return [
    { name: t("pause"), curl: sent({ paused: true }), command: `hanbeon pause ${name}` },
    { name: t("resume"), curl: sent({ paused: false }), command: `hanbeon resume ${name}` },
    {
      name: t("limit"),
      curl: sent({ max_concurrent: limit }),
      command: `hanbeon limit ${name} --max-concurrent ${limit}`,
    },
  ];
}

/** How much of its slots the queue used in the span of its numbers; without a limit, how many were busy on average. */
function utilisation(queue: EngineQueue): string {
  const busy = queue.run ? (queue.run.mean * queue.run.count) / queue.seconds : 0;
  return queue.max_concurrent ? `${number((100 * busy) / queue.max_concurrent)} %` : t("busy", number(busy, 1));
}

interface RowProps {
  queue: EngineQueue;
  /** Its last hour is drawn: that of each is a request. */
  isDrawn: boolean;
  change: (body: QueueChange) => Promise<void>;
}

function Row({ queue, isDrawn, change }: RowProps): JSX.Element {
  const limit = useSignal<string | null>(null);
  const waiting = queue.states.ready ?? 0;
  const running = queue.states.running ?? 0;
  const rate = queue.succeeded / queue.seconds;
  const place = (state: string): string => link(["jobs"], { queue: queue.name, state });
  const roles = Object.entries(queue.roles).map(([role, most]) => `${role} ${most}`);
  return (
    <tr>
      <td>
        <a href={link(["jobs"], { queue: queue.name })}>
          <QueueName name={queue.name} />
        </a>{" "}
        {queue.paused && <span class="badge">{t("paused")}</span>}
      </td>
      <td class="r" data-label={t("pending")}>
        <a href={place("pending")}>{number(queue.states.pending ?? 0)}</a>
      </td>
      <td class="r" data-label={t("ready")}>
        <a href={place("ready")}>{number(waiting)}</a>
      </td>
      <td class="r" data-label={t("running")}>
        <a href={place("running")}>{number(running)}</a>
      </td>
      <td class="r" data-label={t("failed")}>
        <a href={place("failed")}>{number(queue.states.failed ?? 0)}</a>
      </td>
      <td class="load" data-label={t("load")}>
        {queue.max_concurrent > 0 && <Bar share={running / queue.max_concurrent} />}
        <span>
          {isDrawn && <Sparkline queue={queue.name} />} <small class="faint">{utilisation(queue)}</small>
        </span>
      </td>
      <td class="r" data-label={t("waitBefore")}>
        {queue.wait ? duration(queue.wait.p50) : "–"}
      </td>
      <td class="r" data-label={t("drainTime")}>
        {waiting === 0 ? "–" : queue.paused || rate === 0 ? "∞" : duration(waiting / rate)}
      </td>
      <td data-label={t("limit")}>
        {limit.value === null ? (
          <>
            {queue.max_concurrent ? number(queue.max_concurrent) : t("noLimit")}
            {queue.max_per_key ? ` · ${t("perKey", queue.max_per_key)}` : ""}
            {roles.length ? ` · ${roles.join(", ")}` : ""}
          </>
        ) : (
          <input
            class="number"
            type="number"
            min={0}
            aria-label={t("limit")}
            value={limit.value}
            onInput={(event) => (limit.value = event.currentTarget.value)}
          />
        )}
      </td>
      <td>
        <div class="row end">
          {limit.value === null ? (
            <Button admin onClick={() => void (limit.value = String(queue.max_concurrent))}>
              {t("change")}
            </Button>
          ) : (
            <Button
              admin
              kind="main"
              onClick={async () => {
                const wanted = Number(limit.value);
                limit.value = null;
                await change({ max_concurrent: wanted });
              }}
            >
              {t("change")}
            </Button>
          )}
          <Button
            admin
            confirm={!queue.paused}
            label={`${t(queue.paused ? "resume" : "pause")} ${queue.name}`}
            onClick={() => change({ paused: !queue.paused })}
          >
            {t(queue.paused ? "resume" : "pause")}
          </Button>
          <Copies row={queue.name} of={commandsOf(queue, Number(limit.value ?? queue.max_concurrent))} />
        </div>
      </td>
    </tr>
  );
}
