// Run the unit tests, `*.test.ts` beside what they test, bundled as the page is, with the test runner of Node.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOURCE, scripts } from "./bundle.mjs";

const out = mkdtempSync(join(tmpdir(), "dashboard-tests-"));
try {
  const tests = readdirSync(SOURCE, { recursive: true }).filter((each) => each.endsWith(".test.ts"));
  const options = { platform: "node", minify: false, sourcemap: "inline", outExtension: { ".js": ".mjs" } };
  await scripts(
    tests.map((each) => join(SOURCE, each)),
    out,
    options,
  );
  const files = tests.map((each) => join(out, each.replace(/ts$/, "mjs")));
  const run = ["--enable-source-maps", "--test", "--test-reporter=dot", ...process.argv.slice(2), ...files];
  process.exitCode =
    spawnSync(process.execPath, run, { stdio: "inherit", env: { ...process.env, TZ: "UTC" } }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
