// The frame of all pages: navigation, search, preferences, banners, and the way in.
import { SURFACES } from "hanbeon:surfaces";
import { effect, signal, useSignal } from "@preact/signals";
import { type JSX, render } from "preact";
import { useEffect } from "preact/hooks";
import { call, lastAnswer, Problem, session, whoAmI } from "./lib/api";
import { duration, installationZone, otherZone, switchZone, zoneName } from "./lib/format";
import { followEngine } from "./lib/live";
import { language, theme, viewerZone } from "./lib/preferences";
import { link, place } from "./lib/router";
import { GROUPS, named, type Page } from "./lib/surface";
import { t } from "./lib/texts";
import { Lazy } from "./ui/lazy";
import { Palette } from "./ui/palette";
import { Button, Empty, heading, notice, Panel, wordsOf } from "./ui/parts";

const PAGES = SURFACES.flatMap(({ pages }) => pages).sort(
  (one, other) => GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group) || one.order - other.order,
);

const CHECK_MS = 60_000;
const now = signal(Date.now());
const loadedVersion = signal<string | null>(null);
const serverVersion = signal<string | null>(null);

/** Pages that the navigation leaves out until there is something on them. */
const used = signal<ReadonlySet<Page>>(new Set());

async function findUsed(): Promise<void> {
  for (const each of PAGES) {
    if (!each.used || used.peek().has(each)) continue;
    try {
      if (await each.used()) used.value = new Set([...used.peek(), each]);
    } catch (error) {
      // Not for this token, or a part that is not set up: not in use.
      if (!(error instanceof Problem)) throw error;
    }
  }
}

const pathOf = (page: Page): string => link(page.name ? [page.name] : []);

function Frame(): JSX.Element {
  const [first = "", id] = place.value.parts;
  const page = PAGES.find((each) => each.name === first);
  useEffect(() => {
    const title = heading.value ?? (page && named(page.title));
    document.title = title ? `${title} · Hanbeon` : "Hanbeon";
    // On a phone the navigation is a bar that scrolls.
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [page, language.value, heading.value]);
  useEffect(() => void findUsed(), [page, session.value]);
  return (
    <div class="frame">
      <nav aria-label="Hanbeon">
        <a class="brand" href="#/">
          Hanbeon
        </a>
        {GROUPS.map((group) => (
          <div key={group}>
            <h6>{t(group)}</h6>
            {PAGES.filter((each) => each.group === group && (each === page || !each.used || used.value.has(each))).map(
              (each) => (
                <a key={each.name} href={pathOf(each)} aria-current={each === page ? "page" : undefined}>
                  {named(each.title)}
                </a>
              ),
            )}
            {group === "system" && <a href="/docs">{t("api")}</a>}
          </div>
        ))}
      </nav>
      <main>
        <header class="top">
          <h1>{heading.value ?? (page ? named(page.title) : "Hanbeon")}</h1>
          <Live />
          <Palette pages={PAGES} />
          <button
            type="button"
            class="btn plain"
            disabled={installationZone() === viewerZone}
            title={t(installationZone() === viewerZone ? "zoneSays" : "switchZone", zoneName(), otherZone())}
            onClick={switchZone}
          >
            {zoneName()}
          </button>
          <button
            type="button"
            class="btn plain"
            aria-label={`${language.value === "en" ? "KO" : "EN"} ${t("languageName")}`}
            onClick={() => (language.value = language.value === "en" ? "ko" : "en")}
          >
            {language.value === "en" ? "KO" : "EN"}
          </button>
          <button
            type="button"
            class="btn plain"
            aria-label={theme.value === "dark" ? "light" : "dark"}
            onClick={() => (theme.value = theme.value === "dark" ? "light" : "dark")}
          >
            {theme.value === "dark" ? "☀" : "☾"}
          </button>
          {session.value?.login && (
            <Button
              onClick={async () => {
                await call("DELETE /api/session");
                session.value = null;
              }}
            >
              {t("logOut")}
            </Button>
          )}
        </header>
        <Banner />
        {page?.one && id !== undefined ? (
          <Lazy part={page.one} of={{ id }} />
        ) : page ? (
          <Lazy part={page.list} of={{}} />
        ) : (
          <Panel>
            <Empty>
              {t("notFound")}{" "}
              <a class="inline" href="#/">
                {t("goHome")}
              </a>
            </Empty>
          </Panel>
        )}
      </main>
    </div>
  );
}

function Live(): JSX.Element {
  const seconds = Math.max(0, (now.value - lastAnswer.value.at) / 1000);
  return (
    <span class="live">
      <i class={lastAnswer.value.ok ? "" : "off"} />
      {lastAnswer.value.at ? t("live", duration(Math.round(seconds) || 1)) : ""}
    </span>
  );
}

function Banner(): JSX.Element | null {
  const stale =
    loadedVersion.value !== null && serverVersion.value !== null && loadedVersion.value !== serverVersion.value;
  return (
    <div class="banners" aria-live="polite">
      {!lastAnswer.value.ok && <p class="banner bad">{t("unreachable")}</p>}
      {stale && (
        <p class="banner">
          {t("newVersion")} <Button onClick={() => location.reload()}>{t("reload")}</Button>
        </p>
      )}
      {notice.value && <p class={`banner ${notice.value.bad ? "bad" : "good"}`}>{notice.value.text}</p>}
    </div>
  );
}

function LogIn(): JSX.Element {
  const token = useSignal("");
  const problem = useSignal("");
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      session.value = await call("POST /api/session", { body: { token: token.value.trim() } });
      token.value = "";
    } catch (error) {
      problem.value = wordsOf(error);
    }
  };
  return (
    <main class="login">
      <form class="panel" onSubmit={(event) => void send(event)}>
        <h1>Hanbeon</h1>
        <p>
          {t("logInHint")
            .split("`")
            .map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}
        </p>
        <label>
          <span>{t("token")}</span>
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            value={token.value}
            onInput={(event) => (token.value = event.currentTarget.value)}
          />
        </label>
        {problem.value && (
          <p class="failure" role="alert">
            {problem.value}
          </p>
        )}
        <button class="btn main" type="submit" disabled={!token.value.trim()}>
          {t("logIn")}
        </button>
      </form>
    </main>
  );
}

function Root(): JSX.Element {
  if (session.value === undefined)
    return <div class="frame">{!lastAnswer.value.ok && <p class="banner bad">{t("unreachable")}</p>}</div>;
  return session.value === null ? <LogIn /> : <Frame />;
}

async function check(): Promise<void> {
  try {
    if (session.peek() === undefined) await whoAmI();
    const { version } = await call("GET /healthz");
    loadedVersion.value ??= version;
    serverVersion.value = version;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  document.documentElement.lang = language.value;
});
let wasLost = false;
effect(() => {
  if (!lastAnswer.value.ok) wasLost = true;
  else if (wasLost) {
    wasLost = false;
    notice.value = { text: t("backAgain"), bad: false };
    setTimeout(() => (notice.value = null), 4_000);
  }
});
setInterval(() => (now.value = Date.now()), 1_000);
setInterval(() => void (document.hidden || check()), CHECK_MS);
setInterval(() => void (lastAnswer.peek().ok || check()), 2_000);
void check();
// A server that was restarted, perhaps as another version, has ended the stream.
followEngine(() => void check());
const root = document.getElementById("app");
if (root) render(<Root />, root);
