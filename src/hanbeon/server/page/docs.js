// Shows an OpenAPI document and sends requests. Everything is put in as text, never as HTML.
"use strict";

const make = (tag, text = "", attributes = {}) => {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// The theme that was chosen in the dashboard, else that of the system.
let theme = null;
try { theme = localStorage.getItem("hanbeon.theme"); } catch { /* A browser may forbid storage. */ }
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = theme ?? (dark ? "dark" : "light");

// Its language, too. Summaries and descriptions of schemas have a file of their own.
const KOREAN = {
  "API reference": "API 문서",
  "← Dashboard": "← 대시보드",
  Reference: "목차",
  Filter: "찾기",
  "Filter: path or text …": "경로나 글자로 찾기 …",
  Token: "토큰",
  "unless logged in": "로그인하지 않은 경우",
  "Made from {0}. What you send here is really done.": "{0}에서 만들었습니다. 여기에서 보낸 요청은 실제로 실행됩니다.",
  "Loading …": "불러오는 중 …",
  "{0} (needed)": "{0} (필수)",
  "Body (JSON)": "본문 (JSON)",
  Send: "보내기",
  "{0} in {1} ms": "{0}, {1} ms",
  "Scopes: {0}": "범위: {0}",
  Takes: "요청",
  "Answers {0}": "응답 {0}",
};
let language = null;
try { language = localStorage.getItem("hanbeon.language"); } catch { /* As above. */ }
const korean = (language ?? navigator.language).toLowerCase().startsWith("ko");
const say = (text, ...values) => (korean ? KOREAN[text] : text).replace(/\{(\d)\}/g, (_, place) => values[place]);
document.documentElement.lang = korean ? "ko" : "en";
document.title = `${say("API reference")} · Hanbeon`;
for (const each of document.querySelectorAll("[data-text]")) {
  const [before, after] = say(each.dataset.text, "\0").split("\0");
  const link = each.querySelector("a, input");
  each.replaceChildren(before, ...(link ? [after === undefined ? " " : "", link] : []), after ?? "");
}
for (const each of document.querySelectorAll("input")) {
  if (each.placeholder) each.placeholder = say(each.placeholder);
  if (each.ariaLabel) each.ariaLabel = say(each.ariaLabel);
}

function field(form, parameter) {
  const label = make("label", parameter.required ? say("{0} (needed)", parameter.name) : parameter.name);
  label.append(make("input", "", { name: parameter.name, "data-in": parameter.in }));
  form.append(label);
}

function resolved(schema, all) {
  return schema?.$ref ? all.schemas[schema.$ref.split("/").pop()] : schema;
}

function showSchema(holder, title, schema, all, texts) {
  if (!schema) return;
  const said = (key, value) => (key === "description" ? texts[value] ?? value : value);
  holder.append(make("h4", title), make("pre", JSON.stringify(resolved(schema, all), said, 2)));
}

async function send(form, method, path, output) {
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("input")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.dataset.in === "query" && input.value) query.append(input.name, input.value);
  }
  const headers = {};
  for (const input of form.querySelectorAll("input[data-in=header]")) if (input.value) headers[input.name] = input.value;
  const token = document.getElementById("token").value;
  if (token) headers.Authorization = `Bearer ${token}`;
  const body = form.querySelector("textarea")?.value;
  if (body) headers["Content-Type"] = "application/json";
  const began = performance.now();
  const address = query.size ? `${path}?${query}` : path;
  const answer = await fetch(address, { method, headers, body: body || undefined });
  const text = await answer.text();
  let shown = text;
  try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* It is no JSON, and shown as it is. */ }
  output.textContent = `${say("{0} in {1} ms", answer.status, Math.round(performance.now() - began))}\n\n${shown}`;
}

// Names between backticks are code.
function prose(text) {
  const element = make("span", " ");
  text.split("`").forEach((part, place) => element.append(place % 2 ? make("code", part) : part));
  return element;
}

function show(main, path, method, operation, all, texts) {
  const holder = make("details");
  const summary = make("summary");
  summary.append(make("b", method.toUpperCase(), { class: method }), make("code", path), prose(texts[operation.summary] ?? operation.summary ?? ""));
  const form = make("form");
  for (const parameter of operation.parameters ?? []) field(form, parameter);
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  if (body) {
    const label = make("label", say("Body (JSON)"));
    label.append(make("textarea", "", { spellcheck: "false" }));
    form.append(label);
  }
  const output = make("pre");
  output.hidden = true;
  form.append(make("button", say("Send")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    output.hidden = false;
    output.textContent = "…";
    send(form, method.toUpperCase(), path, output).catch((error) => { output.textContent = String(error); });
  });
  holder.append(summary);
  if (operation["x-scopes"]) holder.append(make("p", say("Scopes: {0}", operation["x-scopes"].join(", ")), { class: "scopes" }));
  holder.append(form, output);
  showSchema(holder, say("Takes"), body, all, texts);
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (status !== "default") showSchema(holder, say("Answers {0}", status), answer.content?.["application/json"]?.schema, all, texts);
  }
  main.append(holder);
}

// Operations by the first part of their path: /api/offices/… are offices, /healthz and the like the server's own.
function groupOf(path) {
  const [, first, second] = path.split("/");
  return first === "api" ? second : first === "ws" ? "events" : "server";
}

function filter() {
  const wanted = document.getElementById("filter").value.trim().toLowerCase();
  for (const section of document.querySelectorAll("section")) {
    const operations = [...section.querySelectorAll("details")];
    for (const each of operations) each.hidden = !each.firstChild.textContent.toLowerCase().includes(wanted);
    section.hidden = operations.every((each) => each.hidden);
  }
}

const read = (path) => fetch(path).then((answer) => answer.json());
Promise.all([read("/openapi.json"), korean ? read("/docs/korean.json") : {}]).then(([description, texts]) => {
  const main = document.getElementById("operations");
  main.textContent = "";
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    const name = groupOf(path);
    if (!groups.has(name)) {
      const section = make("section", "", { id: name });
      section.append(make("h2", name));
      groups.set(name, section);
    }
    for (const [method, operation] of Object.entries(methods)) show(groups.get(name), path, method, operation, description.components, texts);
  }
  for (const name of [...groups.keys()].sort()) {
    main.append(groups.get(name));
    document.getElementById("groups").append(make("a", name, { href: `#${name}` }));
  }
  document.getElementById("filter").addEventListener("input", filter);
});
