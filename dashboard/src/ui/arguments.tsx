// Arguments of a task: a field for each parameter where they are known, and JSON for the rest and for those who prefer it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type Fault, type Field, fieldsOf, fit, readFields, shownIn } from "../lib/parameters";
import { words } from "../lib/words";

const w = words(
  {
    args: "Arguments (JSON)",
    form: "Form",
    json: "JSON",
    none: "This task has no parameters.",
    initial: "default: {0}",
    unset: "–",
    needed: "is needed",
    notInteger: "must be a whole number",
    notNumber: "must be a number",
    notJson: "must be JSON; write texts in quotes",
    notMatching: "must match {0}",
    notObject: "must be an object of JSON",
  },
  {
    args: "인자 (JSON)",
    form: "양식",
    json: "JSON",
    none: "이 태스크에는 매개변수가 없습니다.",
    initial: "기본값: {0}",
    unset: "–",
    needed: "값이 필요합니다",
    notInteger: "정수여야 합니다",
    notNumber: "숫자여야 합니다",
    notJson: "JSON이어야 합니다. 글자는 따옴표로 감싸세요",
    notMatching: "{0}에 맞아야 합니다",
    notObject: "JSON 객체여야 합니다",
  },
);

export type Arguments = Record<string, unknown>;

/** The arguments in a text, or null. */
export function parsedArguments(text: string): Arguments | null {
  try {
    const found: unknown = JSON.parse(text || "{}");
    return typeof found === "object" && found !== null && !Array.isArray(found)
      ? Object.fromEntries(Object.entries(found))
      : null;
  } catch {
    return null;
  }
}

interface ArgumentsProps {
  /** The parameters of the task as a JSON Schema. */
  schema: unknown;
  /** Those that are there at first. */
  given: Arguments;
  /** Called with the arguments, or with null while a field is wrong. */
  change: (args: Arguments | null) => void;
  /** Fields that are needed and empty are wrong aloud, too. */
  asked: boolean;
}

export function ArgumentFields({ schema, given, change, asked }: ArgumentsProps): JSX.Element {
  const fields = fieldsOf(schema);
  const texts = useSignal<Readonly<Record<string, string>>>(
    Object.fromEntries((fields ?? []).map((each) => [each.name, shownIn(each, given[each.name])])),
  );
  const asJson = useSignal(fields === null || !fit(fields, given));
  const text = useSignal(JSON.stringify(given));
  const { args, faults } = readFields(fields ?? [], texts.value);
  const read = asJson.value ? parsedArguments(text.value) : Object.keys(faults).length ? null : args;
  const key = JSON.stringify(read);
  useEffect(() => change(read), [key]);
  const toJson = (): void => {
    text.value = JSON.stringify(args);
    asJson.value = true;
  };
  const toForm = (): void => {
    const found = parsedArguments(text.value);
    if (!fields || !found || !fit(fields, found)) return;
    texts.value = Object.fromEntries(fields.map((each) => [each.name, shownIn(each, found[each.name])]));
    asJson.value = false;
  };
  return (
    <div class="arguments">
      {fields !== null && fields.length > 0 && (
        <div class="segments" role="group" aria-label={w("args")}>
          <button type="button" aria-pressed={!asJson.value} onClick={toForm}>
            {w("form")}
          </button>
          <button type="button" aria-pressed={asJson.value} onClick={toJson}>
            {w("json")}
          </button>
        </div>
      )}
      {asJson.value || fields === null ? (
        <label class="argsfield">
          <span>{w("args")}</span>
          <textarea
            rows={3}
            name="args"
            spellcheck={false}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          {read === null && <small class="failedtext">{w("notObject")}</small>}
        </label>
      ) : fields.length === 0 ? (
        <p class="faint">{w("none")}</p>
      ) : (
        <div class="fields">
          {fields.map((each) => (
            <ArgumentField
              key={each.name}
              field={each}
              text={texts.value[each.name] ?? ""}
              fault={faults[each.name] === "needed" && !asked ? undefined : faults[each.name]}
              change={(changed) => (texts.value = { ...texts.value, [each.name]: changed })}
            />
          ))}
        </div>
      )}
    </div>
  );
}

interface FieldProps {
  field: Field;
  text: string;
  fault: Fault | undefined;
  change: (text: string) => void;
}

function ArgumentField({ field, text, fault, change }: FieldProps): JSX.Element {
  const shared = {
    name: `args.${field.name}`,
    value: text,
    "aria-invalid": fault !== undefined,
    placeholder: field.initial === undefined ? "" : w("initial", field.initial),
  };
  const choices = field.kind === "boolean" ? [true, false] : field.choices;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: each of the branches is one
    <label>
      <span>
        {field.name}
        {field.required && !field.nullable ? " *" : ""}
      </span>
      {choices.length > 0 ? (
        <select {...shared} onChange={(event) => change(event.currentTarget.value)}>
          <option value="">{field.initial === undefined ? w("unset") : w("initial", field.initial)}</option>
          {choices.map((each) => (
            <option key={JSON.stringify(each)} value={JSON.stringify(each)}>
              {typeof each === "string" ? each : JSON.stringify(each)}
            </option>
          ))}
        </select>
      ) : field.kind === "json" ? (
        <textarea {...shared} rows={2} spellcheck={false} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          inputMode={field.kind === "text" ? "text" : "decimal"}
          spellcheck={false}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      {fault && (
        <small class="failedtext" role="alert">
          {w(fault, field.pattern ?? "")}
        </small>
      )}
    </label>
  );
}
