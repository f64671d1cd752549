import assert from "node:assert/strict";
import { test } from "node:test";
import { language } from "./preferences";
import { filled, words } from "./words";

test("values take their places", () => {
  assert.equal(filled("{1} of {0}", [3, "a"]), "a of 3");
  assert.equal(filled("{0}{1}", ["x"]), "x");
});

test("a word agrees with its number", () => {
  const text = "{0} {0|job|jobs}";
  assert.deepEqual(
    [0, 1, 2].map((count) => filled(text, [count])),
    ["0 jobs", "1 job", "2 jobs"],
  );
});

test("texts follow the language", () => {
  const w = words({ hello: "Hello {0}" }, { hello: "안녕 {0}" });
  language.value = "ko";
  assert.equal(w("hello", "Ada"), "안녕 Ada");
  language.value = "en";
  assert.equal(w("hello", "Ada"), "Hello Ada");
});
