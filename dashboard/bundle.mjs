// How the page is bundled: scripts in parts that are loaded when their page is opened, and one style sheet.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export const SOURCE = join(dirname(fileURLToPath(import.meta.url)), "src");
const PACKAGE = join(SOURCE, "../../src/hanbeon");
const SHARED = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "eof",
  charset: "utf8",
  logLevel: "warning",
};

/** What the folders below `pages/` declare: a surface whose folder is deleted is no part of the page. */
const surfaces = {
  name: "surfaces",
  setup(bundler) {
    bundler.onResolve({ filter: /^hanbeon:surfaces$/ }, ({ path }) => ({ path, namespace: "surfaces" }));
    bundler.onLoad({ filter: /.*/, namespace: "surfaces" }, () => {
      const folders = readdirSync(join(SOURCE, "pages"))
        .sort()
        .filter((each) => existsSync(join(SOURCE, "pages", each, "surface.ts")));
      const imports = folders.map((each) => `import { SURFACE as ${each} } from "./pages/${each}/surface";`);
      return { contents: `${imports.join("\n")}\nexport const SURFACES = [${folders}];`, resolveDir: SOURCE };
    });
  },
};

/** The rules of the engine and of all surfaces, in Korean alone: in English the server has rendered them. */
const koreanRules = {
  name: "korean-rules",
  setup(bundler) {
    bundler.onResolve({ filter: /^hanbeon:rules$/ }, ({ path }) => ({ path, namespace: "rules" }));
    bundler.onLoad({ filter: /.*/, namespace: "rules" }, () => {
      const files = readdirSync(PACKAGE, { recursive: true }).filter((each) => basename(each) === "rules.json");
      const rules = files
        .sort()
        .flatMap((each) => Object.entries(JSON.parse(readFileSync(join(PACKAGE, each), "utf8"))));
      return {
        contents: JSON.stringify(Object.fromEntries(rules.map(([code, { ko }]) => [code, ko]))),
        loader: "json",
      };
    });
  },
};

/** Bundle scripts into `outdir`; `options` are further ones of esbuild. */
export const scripts = (entryPoints, outdir, options = {}) =>
  build({
    ...SHARED,
    entryPoints,
    outdir,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    plugins: [surfaces, koreanRules],
    ...options,
  });

/** Bundle all style sheets, that of the whole page last. */
export const styles = (outfile) => {
  const found = readdirSync(SOURCE, { recursive: true })
    .filter((each) => each.endsWith(".css"))
    .sort(
      (one, other) => Number(one.endsWith("style.css")) - Number(other.endsWith("style.css")) || (one < other ? -1 : 1),
    );
  const contents = found.map((each) => `@import "./${relative(".", each)}";`).join("\n");
  return build({ ...SHARED, stdin: { contents, resolveDir: SOURCE, loader: "css" }, outfile });
};
