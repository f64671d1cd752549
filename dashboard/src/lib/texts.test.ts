import assert from "node:assert/strict";
import { test } from "node:test";
import type { State } from "./api";
import { t } from "./texts";

test("a state has the word that commands, documents and the API have for it", () => {
  const states: State[] = ["pending", "ready", "running", "succeeded", "failed", "cancelled"];
  assert.deepEqual(
    states.map((each) => t(each).toLowerCase()),
    states,
  );
});
