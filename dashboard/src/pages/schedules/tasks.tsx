// Tasks: all that workers have registered, with their parameters, the workers that serve them, and what failed.
import type { JSX } from "preact";
import { call, curl, type Task } from "../../lib/api";
import { number } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { fieldsOf } from "../../lib/parameters";
import { link, place, refine } from "../../lib/router";
import { t } from "../../lib/texts";
import { Copies } from "../../ui/act";
import { EmptyUntil } from "../../ui/first_commands";
import { PagedTable, usePaged } from "../../ui/paged_table";
import { Empty } from "../../ui/parts";
import { w } from "./task_texts";

const PAGE = 200;
const MOST_FAILURES = 100;

export function Tasks(): JSX.Element {
  const name = place.value.query.get("name") ?? "";
  const tasks = usePaged<Task>(
    (cursor, left) => call("GET /api/tasks", { query: { limit: PAGE, cursor } }, left),
    "",
    10_000,
  );
  const failures = useLoaded(
    (left) => call("GET /api/engine/failures", { query: { limit: MOST_FAILURES } }, left),
    "",
    30_000,
    null,
  );
  const failed = (task: string): number =>
    (failures.data?.items ?? []).reduce((sum, each) => sum + (each.task === task ? each.count : 0), 0);
  const shown = tasks.rows.filter((each) => each.task_id.toLowerCase().includes(name.toLowerCase()));
  return (
    <>
      <div class="row">
        <input
          class="small"
          type="search"
          placeholder={w("find")}
          aria-label={w("find")}
          value={name}
          spellcheck={false}
          onInput={(event) => refine({ name: event.currentTarget.value.trim() })}
        />
        <Copies of={[{ name: t("task"), curl: curl("GET /api/tasks"), command: "hanbeon tasks" }]} />
      </div>
      <PagedTable
        class="stacked"
        of={{ ...tasks, rows: shown }}
        empty={
          name && tasks.rows.length > 0 ? (
            <Empty>{w("noMatch")}</Empty>
          ) : (
            <EmptyUntil of="worker">{w("none")}</EmptyUntil>
          )
        }
        moreText={t("more")}
        head={
          <>
            <th>{t("task")}</th>
            <th>{w("parameters")}</th>
            <th>{t("queue")}</th>
            <th class="r">{w("workers")}</th>
            <th class="r">{w("failuresOfDay")}</th>
            <td />
          </>
        }
      >
        {shown.map((each) => (
          <tr key={each.task_id}>
            <td>
              <a class="strong" href={link(["tasks", each.task_id])}>
                {each.task_id}
              </a>
            </td>
            <td data-label={w("parameters")}>
              <code>{parametersOf(each)}</code>
            </td>
            <td data-label={t("queue")}>
              <a href={link(["jobs"], { queue: each.queue })}>{each.queue}</a>
            </td>
            <td class="r" data-label={w("workers")}>
              {each.live ? number(each.live) : <span class="badge bad">{w("nobody")}</span>}
            </td>
            <td class="r" data-label={w("failuresOfDay")}>
              {failures.data ? (
                <a href={link(["jobs"], { task: each.task_id, state: "failed" })}>{number(failed(each.task_id))}</a>
              ) : (
                "–"
              )}
            </td>
            <td class="r">
              <a class="btn plain" href={link(["tasks", each.task_id], { new: "1" })}>
                {w("newJob")}
              </a>
            </td>
          </tr>
        ))}
      </PagedTable>
    </>
  );
}

/** The parameters in one line: optional ones with their default. */
export function parametersOf(task: Task): string {
  const fields = fieldsOf(task.parameters);
  if (!fields) return w("anyParameters");
  if (fields.length === 0) return w("noParameters");
  return fields.map((each) => (each.required ? each.name : `${each.name}=${each.initial ?? "…"}`)).join(", ");
}
