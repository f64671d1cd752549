import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "./ansi";

const ESC = "\u001b";

test("colours begin and end", () => {
  assert.deepEqual(pieces(`a${ESC}[1;31mb${ESC}[39mc${ESC}[0md`), [
    { text: "a", styles: "" },
    { text: "b", styles: "bold fg1" },
    { text: "c", styles: "bold" },
    { text: "d", styles: "" },
  ]);
});

test("a later colour replaces an earlier one", () => {
  assert.deepEqual(pieces(`${ESC}[31m${ESC}[92mx`), [{ text: "x", styles: "fg2" }]);
});

test("what else a terminal would obey is left out", () => {
  const text = pieces(`a${ESC}[2Jb${ESC}]0;title\u0007c${ESC}]8;;http://x${ESC}\\d${ESC}c`);
  assert.equal(text.map((each) => each.text).join(""), "abcd");
});
