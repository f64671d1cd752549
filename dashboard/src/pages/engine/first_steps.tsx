// What a newcomer does first, on the home page of an installation in which nothing has happened yet.
import type { JSX } from "preact";
import { words } from "../../lib/words";
import { useFirstCommands } from "../../ui/first_commands";
import { Panel } from "../../ui/parts";

const w = words(
  {
    title: "Nothing has happened here yet",
    init: "Write a first task: this creates jobs.py.",
    worker: "Start a worker with it, on the database of this server.",
    enqueue: "Give it a job. It shows up here at once.",
    more: "make run in the repository serves an example of everything; the {0} describes every request.",
    api: "API reference",
  },
  {
    title: "아직 아무 일도 없었습니다",
    init: "첫 태스크를 만듭니다. jobs.py가 생깁니다.",
    worker: "이 서버의 데이터베이스로 워커를 시작합니다.",
    enqueue: "작업을 맡깁니다. 여기에 바로 나타납니다.",
    more: "저장소에서 make run을 실행하면 모든 기능의 예를 볼 수 있습니다. 모든 요청은 {0}에 있습니다.",
    api: "API 문서",
  },
);
export function FirstSteps(): JSX.Element {
  const { worker, enqueue } = useFirstCommands();
  const [before, after] = w("more", "\n").split("\n");
  const steps = [
    ["init", "hanbeon init"],
    ["worker", worker],
    ["enqueue", enqueue],
  ] as const;
  return (
    <Panel title={w("title")}>
      <ol class="first">
        {steps.map(([text, command]) => (
          <li key={text}>
            {w(text)}
            <pre>
              <code>{command}</code>
            </pre>
          </li>
        ))}
      </ol>
      <p class="faint hint">
        {before}
        <a class="inline" href="/docs">
          {w("api")}
        </a>
        {after}
      </p>
    </Panel>
  );
}
