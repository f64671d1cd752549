// Dead letters: messages of stream workers that could not be used. Look, put back, or drop.
import type { JSX } from "preact";
import { call, curl, type DeadLetter, isAdmin } from "../../lib/api";
import { number, time } from "../../lib/format";
import { letterText } from "../../lib/server_texts";
import { t } from "../../lib/texts";
import { words } from "../../lib/words";
import { Act, type Command, Copies, quoted } from "../../ui/act";
import { usePaged } from "../../ui/paged_table";
import { attempt, Button, Empty, Failure, Panel, Tree, Waiting } from "../../ui/parts";

const w = words(
  {
    none: "No dead letters. A message of a stream worker that cannot be used, because it is unreadable or names an unknown job, is kept here instead of being lost.",
    payload: "Message",
    republish: "Republish",
    republished: "It is back in its stream.",
    drop: "Drop",
    dropped: "Dropped for good.",
    dropAll: "Drop all shown",
    republishAll: "Republish all shown",
    moved: "{0} of {1}",
    list: "List",
  },
  {
    none: "데드 레터가 없습니다. 읽을 수 없거나 없는 작업을 가리켜 처리하지 못한 스트림 워커의 메시지는 사라지지 않고 여기에 보관됩니다.",
    payload: "메시지",
    republish: "다시 보내기",
    republished: "스트림으로 되돌렸습니다.",
    drop: "버리기",
    dropped: "버렸습니다.",
    dropAll: "보이는 것 모두 버리기",
    republishAll: "보이는 것 모두 다시 보내기",
    moved: "{1}개 중 {0}개",
    list: "목록",
  },
);
const PAGE = 100;
type Move = "republish" | "drop";

async function moveOne(letter: DeadLetter, move: Move): Promise<void> {
  const path = { letterId: letter.id };
  if (move === "drop") await call("DELETE /api/engine/deadletters/{letterId}", { path });
  else await call("POST /api/engine/deadletters/{letterId}/republish", { path });
}

function commandOf(letter: DeadLetter, move: Move): Command {
  const path = { letterId: letter.id };
  const sent =
    move === "drop"
      ? curl("DELETE /api/engine/deadletters/{letterId}", { path })
      : curl("POST /api/engine/deadletters/{letterId}/republish", { path });
  return { name: w(move), curl: sent, command: `hanbeon deadletter ${move} ${quoted(letter.id)}` };
}

export function DeadLetters(): JSX.Element {
  return isAdmin() ? <List /> : <Empty>{t("needsAdmin")}</Empty>;
}

function List(): JSX.Element {
  const found = usePaged<DeadLetter>(
    (cursor, left) => call("GET /api/engine/deadletters", { query: { limit: PAGE, cursor } }, left),
    "",
    10_000,
  );
  if (found.problem && !found.data) return <Failure problem={found.problem} />;
  if (!found.data) return <Waiting lines={4} />;
  const letters = found.rows;
  if (letters.length === 0) {
    return (
      <Panel>
        <Empty command="hanbeon deadletter list">{w("none")}</Empty>
      </Panel>
    );
  }
  const run = (chosen: DeadLetter[], move: Move) => async (): Promise<void> => {
    await attempt(async () => {
      for (const each of chosen) {
        await moveOne(each, move);
        found.change((other) => (other.id === each.id ? [] : [other]));
      }
      const done = w(move === "drop" ? "dropped" : "republished");
      return chosen.length > 1 ? `${w("moved", number(chosen.length), number(chosen.length))} · ${done}` : done;
    });
    found.refresh();
  };
  return (
    <Panel
      title={t("rows", number(letters.length))}
      actions={
        <>
          <Act admin confirm onClick={run(letters, "republish")}>
            {w("republishAll")}
          </Act>
          <Act admin confirm onClick={run(letters, "drop")}>
            {w("dropAll")}
          </Act>
          <Copies
            of={[
              ...(["republish", "drop"] as const).map((move) => ({
                name: w(move === "drop" ? "dropAll" : "republishAll"),
                curl: letters.map((each) => commandOf(each, move).curl).join("\n"),
                command: letters.map((each) => commandOf(each, move).command).join("\n"),
              })),
              { name: w("list"), curl: curl("GET /api/engine/deadletters"), command: "hanbeon deadletter list" },
            ]}
          />
        </>
      }
    >
      <ul class="letters">
        {letters.map((each) => (
          <Letter key={each.id} letter={each} run={(move) => run([each], move)} />
        ))}
      </ul>
      {found.next && (
        <p class="center">
          <Button onClick={found.more}>{t("more")}</Button>
        </p>
      )}
    </Panel>
  );
}

function Letter({ letter, run }: { letter: DeadLetter; run: (move: Move) => () => Promise<void> }): JSX.Element {
  return (
    <li>
      <div class="letterhead">
        <span class="failedtext" title={letter.reason}>
          {letterText(letter)}
        </span>
        <code>{letter.stream}</code>
        <span class="faint nowrap">{time(letter.at)}</span>
        <span class="row end">
          <Act admin confirm label={`${w("republish")} ${letter.id}`} onClick={run("republish")}>
            {w("republish")}
          </Act>
          <Act admin confirm label={`${w("drop")} ${letter.id}`} onClick={run("drop")}>
            {w("drop")}
          </Act>
          <Copies row={letter.id} of={[commandOf(letter, "republish"), commandOf(letter, "drop")]} />
        </span>
      </div>
      <details>
        <summary>
          {w("payload")} <code class="faint">{letter.id}</code>
        </summary>
        <Tree value={letter.payload} />
      </details>
    </li>
  );
}
