// What a person decides about a job that failed or was cancelled, and why.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type EngineJobDetail } from "../../lib/api";
import { words } from "../../lib/words";
import { type Command, Copies, quoted } from "../../ui/act";
import { attempt, Button, Panel } from "../../ui/parts";

const COMMENT_MOST = 2_000;
const w = words(
  { byHand: "By hand", comment: "Comment", retry: "Retry with this comment", markDone: "Mark as done" },
  { byHand: "직접 처리", comment: "설명", retry: "이 설명으로 재시도", markDone: "완료로 표시" },
);

export function ByHand({ job, refresh }: { job: EngineJobDetail; refresh: () => void }): JSX.Element | null {
  const text = useSignal("");
  if (job.state !== "failed" && job.state !== "cancelled") return null;
  const path = { jobId: job.id };
  const comment = text.value.trim();
  const body = { comment };
  const move = (action: "retry" | "mark-done") => async (): Promise<void> => {
    await attempt(async () => void (await call(`POST /api/engine/jobs/{jobId}/${action}`, { path, body })));
    refresh();
  };
  const copy = (name: string, action: "retry" | "mark-done"): Command => ({
    name,
    curl: curl(`POST /api/engine/jobs/{jobId}/${action}`, { path, body }),
    command: `hanbeon ${action} ${job.id} --comment ${quoted(comment)}`,
  });
  return (
    <Panel title={w("byHand")}>
      <form class="again" onSubmit={(event) => event.preventDefault()}>
        <label>
          {w("comment")}
          <textarea
            rows={2}
            maxLength={COMMENT_MOST}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <Button admin disabled={!comment} onClick={move("retry")}>
            {w("retry")}
          </Button>
          <Button admin confirm disabled={!comment} onClick={move("mark-done")}>
            {w("markDone")}
          </Button>
          <Copies of={[copy(w("retry"), "retry"), copy(w("markDone"), "mark-done")]} />
        </div>
      </form>
    </Panel>
  );
}
