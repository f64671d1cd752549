import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { language } from "../../lib/preferences";
import { cronWords } from "./cron_words";

afterEach(() => {
  language.value = "en";
});

test("an expression is said in words", () => {
  language.value = "en";
  assert.equal(cronWords("*/15 9-17 * * 1-5"), "Every 15 minutes, between 09:00 and 17:59, Monday through Friday");
  assert.equal(cronWords("0 9 * * *"), "At 09:00, every day");
});

test("either of two kinds of days is said", () => {
  language.value = "en";
  const both = cronWords("0 9 1 * 1");
  assert.notEqual(both, cronWords("0 9 1 * *"));
  assert.match(both, /whichever applies/);
  assert.doesNotMatch(cronWords("0 9 * * 1"), /whichever applies/);
});

test("words are in the language of the page", () => {
  language.value = "ko";
  assert.match(cronWords("0 9 * * 1"), /월요일/);
});

test("what is no expression has no words", () => {
  for (const text of ["", "   ", "every day", "61 * * * *"]) assert.equal(cronWords(text), "");
});
