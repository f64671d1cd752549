import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineJob } from "../../lib/api";
import { csv } from "./export_list";

// biome-ignore lint/plugin: jobs with the columns that these tests are about
const job = (fields: Partial<EngineJob>): EngineJob => fields as EngineJob;

test("a list has its columns, and a mark that it is UTF-8", () => {
  const [head, row, end] = csv([job({ id: "1", task: "한번", attempt: 2 })]).split("\r\n");
  assert.match(head ?? "", /^\ufeffid,state,task,/);
  assert.match(row ?? "", /^"1",,"한번",,,"2",/);
  assert.equal(end, "");
});

test("quotes are doubled and values are JSON", () => {
  assert.ok(csv([job({ args: { a: 'say "x"' } })]).includes(String.raw`"{""a"":""say \""x\""""}"`));
});

test("no text is a formula", () => {
  for (const begin of ["=", "+", "-", "@", "\t"]) {
    assert.ok(csv([job({ error_message: `${begin}1` })]).includes(`"'${begin}1"`), begin);
  }
});
