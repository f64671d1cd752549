// What a person decides about a job that failed or was cancelled, and why.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type EngineJobDetail } from "../../lib/api";
import { words } from "../../lib/words";
import { Copies, quoted } from "../../ui/act";
import { attempt, Button, Panel } from "../../ui/parts";

const COMMENT_MOST = 2_000;
const w = words(
  { byHand: "By hand", comment: "Comment", markDone: "Mark as done" },
  { byHand: "직접 처리", comment: "설명", markDone: "완료로 표시" },
);

export function ByHand({ job, refresh }: { job: EngineJobDetail; refresh: () => void }): JSX.Element | null {
  const text = useSignal("");
  if (job.state !== "failed" && job.state !== "cancelled") return null;
  const path = { jobId: job.id };
  const comment = text.value.trim();
  const body = { comment };
  const markDone = async (): Promise<void> => {
    await attempt(async () => void (await call("POST /api/engine/jobs/{jobId}/mark-done", { path, body })));
    refresh();
  };
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
          <Button admin confirm disabled={!comment} onClick={markDone}>
            {w("markDone")}
          </Button>
          <Copies
            of={[
              {
                name: w("markDone"),
                curl: curl("POST /api/engine/jobs/{jobId}/mark-done", { path, body }),
                command: `hanbeon mark-done ${job.id} --comment ${quoted(comment)}`,
              },
            ]}
          />
        </div>
      </form>
    </Panel>
  );
}
