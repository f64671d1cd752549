import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, fit, readFields, shownIn } from "./parameters";

const SCHEMA = {
  type: "object",
  properties: {
    url: { type: "string", pattern: "^(?:https:.*)$" },
    size: { $ref: "#/$defs/Size" },
    tries: { type: "integer", default: 3 },
    share: { anyOf: [{ type: "number" }, { type: "null" }] },
    dry: { type: "boolean", default: false },
    more: { anyOf: [{ type: "string" }, { type: "integer" }], default: null },
  },
  required: ["url", "size", "share"],
  additionalProperties: false,
  $defs: { Size: { title: "Size", enum: ["large", "small"] } },
};

test("each parameter has a field of its kind", () => {
  const fields = fieldsOf(SCHEMA) ?? [];
  assert.deepEqual(
    fields.map((each) => [each.name, each.kind, each.required, each.initial]),
    [
      ["url", "text", true, undefined],
      ["size", "choice", true, undefined],
      ["tries", "integer", false, "3"],
      ["share", "number", true, undefined],
      ["dry", "boolean", false, "false"],
      ["more", "json", false, "null"],
    ],
  );
  assert.deepEqual(fields[1]?.choices, ["large", "small"]);
});

test("texts become arguments, and what is wrong is said of its field", () => {
  const fields = fieldsOf(SCHEMA) ?? [];
  const good = { url: "https://a", size: '"small"', tries: "", share: "0.5", dry: "true", more: "[1]" };
  assert.deepEqual(readFields(fields, good), {
    args: { url: "https://a", size: "small", share: 0.5, dry: true, more: [1] },
    faults: {},
  });
  const bad = { url: "ftp://a", tries: "1.5", share: "", more: "{" };
  assert.deepEqual(readFields(fields, bad), {
    args: { share: null },
    faults: { url: "notMatching", size: "needed", tries: "notInteger", more: "notJson" },
  });
});

test("arguments are shown in the fields that they came from", () => {
  const fields = fieldsOf(SCHEMA) ?? [];
  const args = { url: "https://a", size: "small", tries: 2, share: null, dry: true, more: "x" };
  const texts = Object.fromEntries(
    fields.map((each) => [each.name, shownIn(each, Object.entries(args).find(([name]) => name === each.name)?.[1])]),
  );
  assert.deepEqual(readFields(fields, texts).args, args);
  assert.ok(fit(fields, args));
  assert.ok(!fit(fields, { other: 1 }));
});

test("a schema that names nothing has no fields", () => {
  assert.equal(fieldsOf(null), null);
  assert.equal(fieldsOf({ type: "object", properties: {} }), null);
  assert.deepEqual(fieldsOf({ type: "object", properties: {}, additionalProperties: false }), []);
});
