// Settings of an office: limits, time limit and retries, with the sessions that run its jobs.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type ConfigChange, call, curl, type JobSchedulerConfig, type Office } from "../../lib/api";
import { t } from "../../lib/texts";
import { Act, Copies, quoted } from "../../ui/act";
import { attempt, Empty } from "../../ui/parts";
import { w } from "./texts";

type Key = "maxConcurrentJobs" | "defaultTimeout" | "maxRetries" | "retryBaseDelay";
/** Fields in units that people use; the API has milliseconds. */
const FIELDS: { name: Key; unit: number; least: number }[] = [
  { name: "maxConcurrentJobs", unit: 1, least: 1 },
  { name: "defaultTimeout", unit: 60_000, least: 0 },
  { name: "maxRetries", unit: 1, least: 0 },
  { name: "retryBaseDelay", unit: 1_000, least: 0 },
];

interface Draft {
  fields: Record<Key, string>;
  retryBackoff: "exponential" | "linear";
  roles: Record<string, string>;
}

function draftOf(config: JobSchedulerConfig): Draft {
  const fields = { maxConcurrentJobs: "", defaultTimeout: "", maxRetries: "", retryBaseDelay: "" };
  for (const { name, unit } of FIELDS) fields[name] = String((config[name] ?? 0) / unit);
  const roles = Object.fromEntries(
    Object.entries(config.maxConcurrentByRole ?? {}).map(([role, most]) => [role, String(most)]),
  );
  return { fields, retryBackoff: config.retryBackoff ?? "exponential", roles };
}

/** What the draft changes, and nothing else: a PATCH merges. */
function changeOf(config: JobSchedulerConfig, draft: Draft): ConfigChange {
  const change: ConfigChange = {};
  for (const { name, unit } of FIELDS) {
    const wanted = Math.round(Number(draft.fields[name]) * unit);
    if (wanted !== config[name]) change[name] = wanted;
  }
  if (draft.retryBackoff !== config.retryBackoff) change.retryBackoff = draft.retryBackoff;
  const before = config.maxConcurrentByRole ?? {};
  const roles: Record<string, number | null> = {};
  for (const [role, most] of Object.entries(draft.roles)) if (Number(most) !== before[role]) roles[role] = Number(most);
  for (const role of Object.keys(before)) if (!(role in draft.roles)) roles[role] = null;
  if (Object.keys(roles).length) change.maxConcurrentByRole = roles;
  return change;
}

function wordsOfChange(change: ConfigChange): string[] {
  const { maxConcurrentByRole: roles = {}, ...rest } = change;
  return [
    ...Object.entries(rest).map(([key, value]) => `${key}=${String(value)}`),
    ...Object.entries(roles).map(([role, most]) => quoted(`maxConcurrentByRole.${role}=${String(most)}`)),
  ];
}

export function OfficeConfig({ office, refresh }: { office: Office; refresh: () => void }): JSX.Element {
  const draft = useSignal<Draft | null>(null);
  const role = useSignal("");
  const shown = draft.value ?? draftOf(office.config);
  const edit = (changed: Partial<Draft>): void => void (draft.value = { ...shown, ...changed });
  const change = changeOf(office.config, shown);
  const isChanged = Object.keys(change).length > 0;
  const isValid = [...Object.values(shown.fields), ...Object.values(shown.roles)].every(
    (each) => each !== "" && Number(each) >= 0,
  );
  const save = async (): Promise<void> => {
    const saved = await attempt(async () => {
      await call("PATCH /api/offices/{id}/scheduler/config", { path: { id: office.id }, body: change });
      return w("saved");
    });
    if (saved) draft.value = null;
    refresh();
  };
  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(shown.roles).filter(([each]) => each !== name));
  const sessions = Object.entries(office.sessions);
  return (
    <div class="officeconfig">
      <form onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          {FIELDS.map(({ name, least, unit }) => (
            <label key={name}>
              <span>{w(name)}</span>
              <input
                type="number"
                name={name}
                min={least}
                step={unit === 1 ? 1 : "any"}
                value={shown.fields[name]}
                onInput={(event) => edit({ fields: { ...shown.fields, [name]: event.currentTarget.value } })}
              />
            </label>
          ))}
          <label>
            <span>{w("retryBackoff")}</span>
            <select
              name="retryBackoff"
              value={shown.retryBackoff}
              onChange={(event) =>
                edit({ retryBackoff: event.currentTarget.value === "linear" ? "linear" : "exponential" })
              }
            >
              <option value="exponential">{w("exponential")}</option>
              <option value="linear">{w("linear")}</option>
            </select>
          </label>
        </div>
        <h3>{w("byRole")}</h3>
        <div class="rolelimits">
          {Object.entries(shown.roles).map(([name, most]) => (
            <span key={name}>
              <label>
                <span>{name}</span>
                <input
                  class="number"
                  type="number"
                  min={1}
                  value={most}
                  onInput={(event) => edit({ roles: { ...shown.roles, [name]: event.currentTarget.value } })}
                />
              </label>
              <button
                type="button"
                class="btn plain"
                aria-label={w("removeRole", name)}
                title={w("removeRole", name)}
                onClick={() => edit({ roles: without(name) })}
              >
                ×
              </button>
            </span>
          ))}
          <span>
            <input
              class="small"
              placeholder={w("roleName")}
              aria-label={w("addRole")}
              value={role.value}
              onInput={(event) => (role.value = event.currentTarget.value)}
            />
            <button
              type="button"
              class="btn plain"
              disabled={!role.value.trim()}
              onClick={() => {
                edit({ roles: { [role.value.trim()]: "1", ...shown.roles } });
                role.value = "";
              }}
            >
              {w("addRole")}
            </button>
          </span>
        </div>
        <div class="row">
          <Act admin kind="main" disabled={!isChanged || !isValid} onClick={save}>
            {w("save")}
          </Act>
          {isChanged && (
            <button type="button" class="btn plain" onClick={() => (draft.value = null)}>
              {w("reset")}
            </button>
          )}
          {isChanged && (
            <Copies
              of={[
                {
                  name: w("save"),
                  curl: curl("PATCH /api/offices/{id}/scheduler/config", { path: { id: office.id }, body: change }),
                  command: ["hanbeon office config set", office.id, ...wordsOfChange(change)].join(" "),
                },
              ]}
            />
          )}
        </div>
      </form>
      <dl class="facts">
        <div>
          <dt>{w("sessions")}</dt>
          <dd>
            {sessions.length === 0 ? (
              <Empty>{w("noHandlers")}</Empty>
            ) : (
              sessions.map(([name, task]) => (
                <div key={name}>
                  <span class="badge">{name}</span> <code>{task}</code>
                </div>
              ))
            )}
          </dd>
        </div>
        <div>
          <dt>{w("webhooks")}</dt>
          <dd>
            {office.webhooks.length === 0 && w("unlimited")}
            {office.webhooks.map((each) => (
              <div key={each.id}>
                <span class={`badge ${each.state === "disabled" ? "bad" : "good"}`}>{each.state}</span>{" "}
                <code>{each.url}</code>
              </div>
            ))}
          </dd>
        </div>
        <div>
          <dt>{w("notifications")}</dt>
          <dd>
            {office.notifications.length === 0 && w("unlimited")}
            {office.notifications.map((each) => (
              <div key={each}>
                <code>{each}</code>
              </div>
            ))}
          </dd>
        </div>
        <div>
          <dt>{t("id")}</dt>
          <dd>
            <code>{office.id}</code>
          </dd>
        </div>
      </dl>
    </div>
  );
}
