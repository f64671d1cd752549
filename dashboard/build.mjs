// Bundle the page into the folder given as the only argument: app.js, app.css, and the files that stay as they are.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
mkdirSync(out, { recursive: true });
/** The table of rules in Korean alone: in English the server has rendered them. */
const koreanRules = {
  name: "korean-rules",
  setup: ({ onLoad }) =>
    onLoad({ filter: /rules\.json$/ }, ({ path }) => {
      const table = Object.entries(JSON.parse(readFileSync(path, "utf8")));
      return { contents: JSON.stringify(Object.fromEntries(table.map(([code, { ko }]) => [code, { ko }]))), loader: "json" };
    }),
};
await build({
  entryPoints: [join(here, "src/app.tsx")],
  outdir: out,
  bundle: true,
  plugins: [koreanRules],
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "eof",
  charset: "utf8",
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, "src", name), join(out, name));
