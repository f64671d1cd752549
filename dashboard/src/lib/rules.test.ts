import assert from "node:assert/strict";
import { test } from "node:test";
import { rendered } from "./rules";

test("particles follow the sound before them", () => {
  const forms: Record<string, Record<string, string>> = {
    "은/는": { 표: "는", 값: "은", "'값'": "은", 3: "은", 5: "는", queue: "은(는)" },
    "으로/로": { 값: "으로", 표: "로", 메일: "로", 8: "로", 6: "으로", queue: "(으)로" },
    "이어야/여야": { 정수: "여야", 문자열: "이어야", queue: "이어야" },
  };
  for (const [form, cases] of Object.entries(forms)) {
    for (const [text, after] of Object.entries(cases)) assert.equal(rendered(`{x:${form}}`, { x: text }), text + after);
  }
});

test("a part without its value is left out", () => {
  assert.equal(rendered("a[[ from {low}]][[ to {high}]]", { low: 1, high: null }), "a from 1");
});
