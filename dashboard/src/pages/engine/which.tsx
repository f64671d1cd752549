// Which of the five ways to make jobs fits: the table of docs/README.md, with an example of each.
import type { JSX } from "preact";
import { link } from "../../lib/router";
import { words } from "../../lib/words";
import { Panel } from "../../ui/parts";

const w = words(
  {
    title: "Which of the five do I need?",
    intro:
      "Everything that runs is a job of one engine. The five ways to make jobs differ in who decides what runs next. If two fit, take the first: it has the fewest parts.",
    jobs: "Job",
    jobsFor: "A function, a command or an HTTP call in the background, once or after other jobs.",
    offices: "Office",
    officesFor: "Many jobs of one undertaking, with limits by role, done by sessions such as AI agents.",
    schedules: "Schedule",
    schedulesFor: "A task at the times of a cron expression, or once at a moment.",
    chains: "Chain",
    chainsFor: "Steps that are undone in reverse order when a later one fails.",
    workflows: "Workflow",
    workflowsFor: "Messages, with waits and HTTP calls between them, edited by people.",
  },
  {
    title: "다섯 가지 중 무엇이 필요할까요?",
    intro:
      "실행되는 것은 모두 한 엔진의 작업입니다. 다섯 가지 방법은 다음에 무엇을 실행할지 누가 정하는지가 다릅니다. 둘 다 맞으면 더 단순한 앞의 것을 고르세요.",
    jobs: "작업",
    jobsFor: "함수, 명령, HTTP 호출을 백그라운드에서 한 번, 또는 다른 작업 다음에 실행합니다.",
    offices: "오피스",
    officesFor: "한 가지 일의 여러 작업을 역할별 제한 아래 AI 에이전트 같은 세션이 처리합니다.",
    schedules: "스케줄",
    schedulesFor: "크론 표현식의 시각마다, 또는 정한 시각에 한 번 태스크를 실행합니다.",
    chains: "체인",
    chainsFor: "뒤 단계가 실패하면 앞 단계를 거꾸로 되돌립니다.",
    workflows: "워크플로우",
    workflowsFor: "메시지와 그 사이의 대기, HTTP 호출을 사람이 편집합니다.",
  },
);
const EXAMPLES = {
  jobs: "await app.enqueue(receipt.call(order=7))\nawait app.enqueue_many([resize, publish.set(after=[resize])])",
  offices: 'await app.offices.create_jobs(office.id, jobs=[{"title": "Design", "role": "PO"}])',
  schedules: 'await app.schedules.create(backup, cron="0 3 * * *", name="nightly")',
  chains: "await app.chains.run(chain, wait=30)",
  workflows: "await app.workflows.activate(workflow)",
} as const;
const KINDS = ["jobs", "offices", "schedules", "chains", "workflows"] as const;

export function Which(): JSX.Element {
  return (
    <Panel title={w("title")}>
      <p class="faint hint">{w("intro")}</p>
      <ol class="first">
        {KINDS.map((kind) => (
          <li key={kind}>
            <a class="inline" href={link([kind])}>
              {w(kind)}
            </a>
            {": "}
            {w(`${kind}For`)}
            <pre tabIndex={0}>
              <code>{EXAMPLES[kind]}</code>
            </pre>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
