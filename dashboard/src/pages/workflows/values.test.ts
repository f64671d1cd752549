import assert from "node:assert/strict";
import { test } from "node:test";
import { readValue, shownValue } from "./values";

test("a value that is shown is read as it was", () => {
  for (const value of ["text", "7", "true", "null", '"quoted"', "", 7, true, null, { a: [1, "x"] }]) {
    assert.deepEqual(readValue(shownValue(value)), value);
  }
});

test("texts are shown without quotes unless they would be read as something else", () => {
  assert.equal(shownValue("Ada"), "Ada");
  assert.equal(shownValue("7"), '"7"');
  assert.equal(shownValue(undefined), "");
});
