// The timeline of a job in words: the server's own text in English, and its types in Korean.
import type { EngineJobDetail } from "./api";
import { language } from "./preferences";
import { words } from "./words";

type Moved = EngineJobDetail["timeline"][number];
type Attempt = EngineJobDetail["attempts"][number];

const ends = words(
  { running: "running", completed: "completed", failed: "failed", timeout: "timed out", cancelled: "cancelled", lost: "lost", released: "released" },
  { running: "실행 중", completed: "완료", failed: "실패", timeout: "시간 초과", cancelled: "취소됨", lost: "유실", released: "반환됨" },
);
type End = Parameters<typeof ends>[0];
const ENDS: string[] = ["running", "completed", "failed", "timeout", "cancelled", "lost", "released"] satisfies End[];
const isEnd = (type: string): type is End => ENDS.includes(type);

/** How an attempt ended. */
export const attemptStatus = (status: string): string => (isEnd(status) ? ends(status) : status);

const KOREAN: Record<string, string> = {
  created: "‘{queue}’ 큐에 생성됨",
  due: "이때부터 실행할 수 있음",
  started: "{attempt}번째 시도 시작",
  dispatched: "{attempt}번째 시도를 스트림 워커에 보냄",
  stop_requested: "중지 요청됨",
  deadline: "{attempt}번째 시도를 이때 중지함",
  retry: "이때 다시 시도함",
  succeeded: "완료",
  failed: "실패",
  cancelled: "취소됨",
};

/** What happened to a job at a moment of its timeline. */
export function momentText(moment: Moved, queue: string, attempts: Attempt[]): string {
  if (language.value !== "ko") return moment.text;
  const { attempt, type } = moment;
  if (attempt !== null && isEnd(type)) {
    const found = attempts.find((each) => each.attempt === attempt);
    const why = found?.failure_type ? ` (${found.failure_type})${found.error_message ? `: ${found.error_message}` : ""}` : "";
    return `${attempt}번째 시도 ${ends(type)}${why}`;
  }
  return KOREAN[type]?.replace("{queue}", () => queue).replace("{attempt}", String(attempt)) ?? moment.text;
}
