// The installation: its workers, who did what, tokens and settings.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Action, call, curl, type EngineInstance, isAdmin } from "../../lib/api";
import { ago, number, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { language } from "../../lib/preferences";
import { t } from "../../lib/texts";
import { Copies, quoted } from "../../ui/act";
import { EmptyUntil } from "../../ui/first_commands";
import { attempt, Bar, Button, Copy, Empty, Failure, JobLink, Panel, Waiting } from "../../ui/parts";

const SCOPES = ["admin", "user", "read", "cron"] as const;

export function Instances(): JSX.Element {
  const { data, problem, refresh } = useLoaded((left) => call("GET /api/engine/instances", {}, left), "", 5_000);
  if (problem && !data) return <Failure problem={problem} />;
  if (!data) return <Waiting lines={4} />;
  if (data.items.length === 0)
    return (
      <Panel>
        <EmptyUntil of="worker">{t("noWorkers")}</EmptyUntil>
      </Panel>
    );
  const move = async (each: EngineInstance): Promise<void> => {
    const path = { number: String(each.id) };
    await attempt(
      async () =>
        void (await call(`POST /api/engine/instances/{number}/${each.draining ? "resume" : "drain"}`, { path })),
    );
    refresh();
  };
  const stopped = data.items.filter((each) => !each.alive && each.stopped_at).reverse();
  return (
    <>
      {data.items
        .filter((each) => !stopped.includes(each))
        .sort((one, other) => Number(other.alive) - Number(one.alive) || other.id - one.id)
        .map((each) => (
          <Panel
            key={each.id}
            title={each.name}
            actions={
              each.alive && (
                <>
                  <Button admin confirm={!each.draining} onClick={() => move(each)}>
                    {t(each.draining ? "resume" : "drain")}
                  </Button>
                  <Copies
                    of={(["drain", "resume"] as const).map((name) => ({
                      name: t(name),
                      curl: curl(`POST /api/engine/instances/{number}/${name}`, { path: { number: String(each.id) } }),
                    }))}
                  />
                </>
              )
            }
          >
            <dl class="facts">
              <div>
                <dt>{t("status")}</dt>
                <dd>
                  <span class={`badge ${each.alive ? "good" : "bad"}`}>{t(each.alive ? "alive" : "gone")}</span>{" "}
                  {each.draining && <span class="badge">{t("draining")}</span>}
                </dd>
              </div>
              <div>
                <dt>{t("slots")}</dt>
                <dd>
                  <Bar share={each.capacity ? each.running / each.capacity : 0} /> {number(each.running)} /{" "}
                  {number(each.capacity)}
                </dd>
              </div>
              <div>
                <dt>{t("host")}</dt>
                <dd>
                  {each.host} · {each.pid}
                </dd>
              </div>
              <div>
                <dt>{t("version")}</dt>
                <dd>{each.version}</dd>
              </div>
              <div>
                <dt>{t("started")}</dt>
                <dd>{time(each.started_at)}</dd>
              </div>
              <div>
                <dt>{t("seen")}</dt>
                <dd>{ago(each.seen_at)}</dd>
              </div>
            </dl>
            {each.jobs.length > 0 && (
              <ul class="neighbours">
                {each.jobs.slice(0, 100).map((job) => (
                  <li key={job.id}>
                    <JobLink id={job.id} task={job.task} state={job.state} />
                  </li>
                ))}
              </ul>
            )}
          </Panel>
        ))}
      {stopped.length > 0 && <Stopped workers={stopped} />}
    </>
  );
}

/** Workers that ended in order, such as commands that ran a job and went. */
function Stopped({ workers }: { workers: EngineInstance[] }): JSX.Element {
  return (
    <details class="panel">
      <summary>{t("stoppedOnes", number(workers.length))}</summary>
      <table class="stacked">
        <thead>
          <tr>
            <th>{t("worker")}</th>
            <th>{t("host")}</th>
            <th>{t("started")}</th>
            <th>{t("stopped")}</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((each) => (
            <tr key={each.id}>
              <td>{each.name}</td>
              <td data-label={t("host")}>
                {each.host} · {each.pid}
              </td>
              <td data-label={t("started")}>{time(each.started_at)}</td>
              <td data-label={t("stopped")}>{time(each.stopped_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

export function Actions(): JSX.Element {
  const { data, problem } = useLoaded(
    (left) => call("GET /api/engine/actions", { query: { limit: 200 } }, left),
    "",
    10_000,
  );
  const older = useSignal<Action[]>([]);
  const cursor = useSignal<string | null | undefined>(undefined);
  if (problem && !data) return <Failure problem={problem} />;
  if (!data) return <Waiting lines={6} />;
  if (data.items.length === 0)
    return (
      <Panel>
        <Empty>{t("noActions")}</Empty>
      </Panel>
    );
  const next = cursor.value === undefined ? data.next_cursor : cursor.value;
  const more = async (): Promise<void> => {
    const page = await call("GET /api/engine/actions", { query: { limit: 200, cursor: next ?? undefined } });
    older.value = [...older.value, ...page.items];
    cursor.value = page.next_cursor;
  };
  return (
    <Panel>
      <table class="stacked">
        <thead>
          <tr>
            <th>{t("when")}</th>
            <th>{t("user")}</th>
            <th>{t("via")}</th>
            <th>{t("action")}</th>
            <th>{t("target")}</th>
            <th class="r">{t("count")}</th>
          </tr>
        </thead>
        <tbody>
          {[...data.items, ...older.value].map((each) => (
            <tr key={each.id}>
              <td class="nowrap">{time(each.at)}</td>
              <td data-label={t("user")}>{each.user}</td>
              <td data-label={t("via")}>{each.via}</td>
              <td data-label={t("action")}>{each.action}</td>
              <td class="clip" data-label={t("target")}>
                <code>{each.target ?? ""}</code>
              </td>
              <td class="r" data-label={t("count")}>
                {number(each.count)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {next && (
        <p class="center">
          <Button onClick={more}>{t("more")}</Button>
        </p>
      )}
    </Panel>
  );
}

export function Settings(): JSX.Element {
  if (!isAdmin()) {
    return (
      <Panel>
        <Empty>{t("needsAdmin")}</Empty>
      </Panel>
    );
  }
  return (
    <>
      <Tokens />
      <SettingList />
    </>
  );
}

function Tokens(): JSX.Element {
  const { data, refresh } = useLoaded((left) => call("GET /api/engine/tokens", {}, left), "", 30_000, null);
  const user = useSignal("");
  const scope = useSignal<(typeof SCOPES)[number]>("user");
  const made = useSignal<string | null>(null);
  const create = (): Promise<boolean> =>
    attempt(async () => {
      const answer = await call("POST /api/engine/tokens", { body: { user: user.value, scope: scope.value } });
      made.value = answer.token;
      user.value = "";
      refresh();
    });
  return (
    <Panel title={t("tokens")}>
      <div class="row">
        <input
          class="small"
          placeholder={t("user")}
          aria-label={t("user")}
          value={user.value}
          onInput={(event) => (user.value = event.currentTarget.value)}
        />
        <select
          aria-label={t("scope")}
          value={scope.value}
          onChange={(event) => (scope.value = SCOPES.find((each) => each === event.currentTarget.value) ?? scope.value)}
        >
          {SCOPES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <Button kind="main" disabled={!user.value.trim()} onClick={create}>
          {t("createToken")}
        </Button>
        <Copies
          of={[
            {
              name: t("createToken"),
              curl: curl("POST /api/engine/tokens", { body: { user: user.value || "NAME", scope: scope.value } }),
              command: `hanbeon token create --user ${quoted(user.value || "NAME")} --scope ${scope.value}`,
            },
            { name: t("tokens"), curl: curl("GET /api/engine/tokens"), command: "hanbeon token list" },
          ]}
        />
      </div>
      {made.value && (
        <p class="secret" role="status">
          <code>{made.value}</code> <Copy label="copyId" text={made.value} /> {t("tokenOnce")}
        </p>
      )}
      {data && data.items.length > 0 && (
        <table class="stacked">
          <thead>
            <tr>
              <th>{t("id")}</th>
              <th>{t("user")}</th>
              <th>{t("scope")}</th>
              <th>{t("created")}</th>
              <th>{t("lastUsed")}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {data.items.map((each) => (
              <tr key={each.id}>
                <td data-label={t("id")}>{each.id}</td>
                <td data-label={t("user")}>{each.user}</td>
                <td data-label={t("scope")}>{each.scope}</td>
                <td data-label={t("created")}>{time(each.created_at)}</td>
                <td data-label={t("lastUsed")}>{time(each.last_used_at)}</td>
                <td class="r">
                  {each.revoked_at ? (
                    <span class="badge">{t("revoked")}</span>
                  ) : (
                    <Button
                      confirm
                      onClick={async () => {
                        await attempt(
                          async () =>
                            void (await call("DELETE /api/engine/tokens/{number}", {
                              path: { number: String(each.id) },
                            })),
                        );
                        refresh();
                      }}
                    >
                      {t("revoke")}
                    </Button>
                  )}
                  {!each.revoked_at && (
                    <Copies
                      row={`${each.user} ${each.id}`}
                      of={[
                        {
                          name: t("revoke"),
                          curl: curl("DELETE /api/engine/tokens/{number}", { path: { number: String(each.id) } }),
                          command: `hanbeon token revoke ${each.id}`,
                        },
                      ]}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function SettingList(): JSX.Element {
  const { data, problem } = useLoaded((left) => call("GET /api/engine/settings", {}, left), "", 60_000, null);
  const korean = useLoaded(
    async (left) => (language.value === "ko" ? call("GET /docs/korean.json", {}, left) : {}),
    language.value,
    3_600_000,
    null,
  );
  const texts: Record<string, string> = korean.data ?? {};
  if (problem && !data) return <Failure problem={problem} />;
  return (
    <Panel title={t("settings")}>
      {!data ? (
        <Waiting lines={8} />
      ) : (
        <table class="settings stacked">
          <thead>
            <tr>
              <th>{t("setting")}</th>
              <th>{t("value")}</th>
              <th>{t("default")}</th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((each) => (
              <tr key={each.name}>
                <td>
                  <code>{each.name}</code>
                  <small class="faint">{texts[each.description] ?? each.description}</small>
                </td>
                <td data-label={t("value")}>
                  <code class={JSON.stringify(each.value) === JSON.stringify(each.default) ? "" : "changed"}>
                    {JSON.stringify(each.value)}
                  </code>
                </td>
                <td class="faint" data-label={t("default")}>
                  <code>{JSON.stringify(each.default)}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
