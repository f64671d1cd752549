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

function field(form, parameter) {
  const needed = parameter.required ? " (needed)" : "";
  const label = make("label", `${parameter.name}${needed}`);
  label.append(make("input", "", { name: parameter.name, "data-in": parameter.in }));
  form.append(label);
}

function resolved(schema, all) {
  return schema?.$ref ? all.schemas[schema.$ref.split("/").pop()] : schema;
}

function showSchema(holder, title, schema, all) {
  if (!schema) return;
  holder.append(make("h4", title), make("pre", JSON.stringify(resolved(schema, all), null, 2)));
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
  output.textContent = `${answer.status} in ${Math.round(performance.now() - began)} ms\n\n${shown}`;
}

function show(main, path, method, operation, all) {
  const holder = make("details");
  const summary = make("summary");
  summary.append(make("b", method.toUpperCase(), { class: method }), make("code", path), make("span", ` ${operation.summary ?? ""}`));
  const form = make("form");
  for (const parameter of operation.parameters ?? []) field(form, parameter);
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  if (body) {
    const label = make("label", "Body (JSON)");
    label.append(make("textarea", "", { spellcheck: "false" }));
    form.append(label);
  }
  const output = make("pre");
  output.hidden = true;
  form.append(make("button", "Send"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    output.hidden = false;
    output.textContent = "…";
    send(form, method.toUpperCase(), path, output).catch((error) => { output.textContent = String(error); });
  });
  holder.append(summary);
  if (operation["x-scopes"]) holder.append(make("p", `Scopes: ${operation["x-scopes"].join(", ")}`, { class: "scopes" }));
  holder.append(form, output);
  showSchema(holder, "Takes", body, all);
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (status !== "default") showSchema(holder, `Answers ${status}`, answer.content?.["application/json"]?.schema, all);
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

fetch("/openapi.json").then((answer) => answer.json()).then((description) => {
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
    for (const [method, operation] of Object.entries(methods)) show(groups.get(name), path, method, operation, description.components);
  }
  for (const name of [...groups.keys()].sort()) {
    main.append(groups.get(name));
    document.getElementById("groups").append(make("a", name, { href: `#${name}` }));
  }
  document.getElementById("filter").addEventListener("input", filter);
});
