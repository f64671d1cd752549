// Fields of a form, made from the JSON Schema of a task's parameters. What has no field of its own is typed as JSON.
type Schema = Record<string, unknown>;

export interface Field {
  name: string;
  kind: "text" | "integer" | "number" | "boolean" | "choice" | "json";
  required: boolean;
  /** May be null, which an empty field of a required parameter stands for. */
  nullable: boolean;
  /** The default as text, for a placeholder; undefined without one. */
  initial: string | undefined;
  choices: unknown[];
  pattern: string | undefined;
}

export type Fault = "needed" | "notInteger" | "notNumber" | "notJson" | "notMatching";

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema without its reference and without null among its types; and if null was there. */
function resolved(schema: unknown, kinds: unknown): { own: Schema; nullable: boolean } {
  if (!isObject(schema)) return { own: {}, nullable: false };
  if (typeof schema.$ref === "string") {
    const found = isObject(kinds) ? kinds[schema.$ref.split("/").at(-1) ?? ""] : undefined;
    return resolved(isObject(found) ? found : {}, undefined);
  }
  if (!Array.isArray(schema.anyOf)) return { own: schema, nullable: false };
  const others: unknown[] = schema.anyOf.filter((each) => !isObject(each) || each.type !== "null");
  const nullable = others.length < schema.anyOf.length;
  return { own: others.length === 1 ? resolved(others[0], kinds).own : {}, nullable };
}

function kindOf(own: Schema): Field["kind"] {
  if (Array.isArray(own.enum)) return "choice";
  switch (own.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
    case "boolean":
      return own.type;
    default:
      return "json";
  }
}

/** The fields of a task's parameters, or null if any arguments are taken and none is known. */
export function fieldsOf(schema: unknown): Field[] | null {
  if (!isObject(schema) || !isObject(schema.properties)) return null;
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(schema.properties).map(([name, each]): Field => {
    const { own, nullable } = resolved(each, schema.$defs);
    const kind = kindOf(own);
    const given = isObject(each) && "default" in each ? each.default : undefined;
    return {
      name,
      kind,
      required: required.includes(name),
      nullable,
      initial:
        given === undefined ? undefined : kind === "text" && given !== null ? String(given) : JSON.stringify(given),
      choices: Array.isArray(own.enum) ? own.enum : [],
      pattern: typeof own.pattern === "string" ? own.pattern : undefined,
    };
  });
  return fields.length === 0 && schema.additionalProperties !== false ? null : fields;
}

/** The text of a value in its field. */
export const shownIn = (field: Field, value: unknown): string =>
  value === undefined || (value === null && field.kind !== "json")
    ? ""
    : field.kind === "text" && typeof value === "string"
      ? value
      : JSON.stringify(value);

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    // Written for another engine: the server decides.
    return true;
  }
}

function readOne(field: Field, text: string): { value: unknown } | { fault: Fault } {
  switch (field.kind) {
    case "text":
      return field.pattern !== undefined && !matches(field.pattern, text) ? { fault: "notMatching" } : { value: text };
    case "integer":
      return /^[+-]?\d+$/.test(text.trim()) ? { value: Number(text) } : { fault: "notInteger" };
    case "number":
      return text.trim() && Number.isFinite(Number(text)) ? { value: Number(text) } : { fault: "notNumber" };
    default:
      try {
        return { value: JSON.parse(text) };
      } catch {
        return { fault: "notJson" };
      }
  }
}

/** The arguments that the texts of the fields stand for, and what is wrong with which. Empty ones are left out. */
export function readFields(
  fields: Field[],
  texts: Readonly<Record<string, string>>,
): { args: Record<string, unknown>; faults: Partial<Record<string, Fault>> } {
  const args: Record<string, unknown> = {};
  const faults: Partial<Record<string, Fault>> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text === "") {
      if (field.required && field.nullable) args[field.name] = null;
      else if (field.required) faults[field.name] = "needed";
      continue;
    }
    const read = readOne(field, text);
    if ("fault" in read) faults[field.name] = read.fault;
    else args[field.name] = read.value;
  }
  return { args, faults };
}

/** True if the arguments can be shown in the fields: an argument without a field is JSON alone. */
export const fit = (fields: Field[], args: unknown): args is Record<string, unknown> =>
  isObject(args) && Object.keys(args).every((name) => fields.some((each) => each.name === name));
