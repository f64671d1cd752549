import assert from "node:assert/strict";
import { test } from "node:test";
import { filledPath, problemOf } from "./api";

test("parameters of a path are escaped", () => {
  assert.equal(filledPath("/api/jobs/{id}/log/{name}", { id: 7, name: "a/b c" }), "/api/jobs/7/log/a%2Fb%20c");
});

test("a problem has what its body says", () => {
  const body = { code: "invalid", detail: "limit: must be …", field: "limit", rule: { code: "integer" } };
  const problem = problemOf(422, JSON.stringify(body));
  assert.deepEqual(
    [problem.status, problem.code, problem.field, problem.rule],
    [422, "invalid", "limit", { code: "integer" }],
  );
});

test("an answer that is no problem is quoted", () => {
  const problem = problemOf(502, `<html>${"x".repeat(500)}`);
  assert.deepEqual([problem.code, problem.field, problem.detail.length], ["unknown", null, 200]);
});
