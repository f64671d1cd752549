import assert from "node:assert/strict";
import { test } from "node:test";
import { completions, fieldsOf, textOf } from "./job_tokens";

test("tokens are fields, and other words a text", () => {
  const text = 'state:failed,cancelled task:"two words" after:2027-01-01 ada http://x';
  const { fields, unknown } = fieldsOf(text);
  assert.deepEqual(fields, {
    state: "failed,cancelled",
    task: "two words",
    created_after: "2027-01-01",
    text: "ada http://x",
  });
  assert.deepEqual(unknown, []);
  assert.equal(textOf(fields), text);
});

test("a quote survives in a value", () => {
  const fields = { task: 'say "hi"' };
  assert.deepEqual(fieldsOf(textOf(fields)).fields, fields);
});

test("a state that there is not is named", () => {
  assert.deepEqual(fieldsOf("state:faild").unknown, ["faild"]);
});

test("keys and known values are completed while typing", () => {
  assert.deepEqual(completions("ta", {}), ["task:"]);
  assert.deepEqual(completions("state:f", {}), ["state:failed "]);
  assert.deepEqual(completions("state:failed task:fe", { task: ["fetch", "send", "fe te"] }), [
    "state:failed task:fetch ",
    'state:failed task:"fe te" ',
  ]);
  assert.deepEqual(completions("", {}), []);
  assert.deepEqual(completions("unknown:x", {}), []);
});
