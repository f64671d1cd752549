import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { clock, duration, number, queueName, short, time } from "./format";
import { language, zone } from "./preferences";

const ID = "0191f1a0-1111-7222-8333-444455556666";

afterEach(() => {
  [language.value, zone.value] = ["en", "local"];
});

test("durations have their two largest units", () => {
  language.value = "en";
  const cases: [number | null, string][] = [
    [null, "–"],
    [Number.NaN, "–"],
    [0, "0 ms"],
    [0.0042, "4.2 ms"],
    [0.25, "250 ms"],
    [9.96, "10 s"],
    [42, "42 s"],
    [60, "1 min"],
    [3_725, "1 h 2 min"],
    [86_400, "1 d"],
    [90_061, "1 d 1 h"],
  ];
  for (const [seconds, text] of cases) assert.equal(duration(seconds), text);
});

test("Korean units follow their number", () => {
  language.value = "ko";
  assert.equal(duration(3_725), "1시간 2분");
});

test("numbers are grouped", () => {
  language.value = "en";
  assert.equal(number(1_234_567.891, 1), "1,234,567.9");
});

test("moments are in the zone of the viewer", () => {
  language.value = "en";
  assert.equal(clock("2026-01-01T20:05:00Z"), "20:05");
  zone.value = "kst";
  assert.equal(clock("2026-01-01T20:05:00Z", true), "1/2, 05:05");
  assert.match(time("2026-01-01T20:05:00Z"), /Jan 2, 2026/);
  assert.equal(time(null), "–");
});

test("ids are shortened, also in names of queues", () => {
  assert.equal(short(ID), "0191f1a0…6666");
  assert.equal(short("short"), "short");
  assert.equal(queueName(`office:${ID}`), "office:0191f1a0…6666");
});
