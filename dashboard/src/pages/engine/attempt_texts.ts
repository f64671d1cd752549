// How attempts end, in words.
import { words } from "../../lib/words";

const ends = words(
  {
    running: "running",
    completed: "completed",
    failed: "failed",
    timeout: "timed out",
    cancelled: "cancelled",
    lost: "lost",
    released: "released",
  },
  {
    running: "실행 중",
    completed: "완료",
    failed: "실패",
    timeout: "시간 초과",
    cancelled: "취소됨",
    lost: "유실",
    released: "반환됨",
  },
);
type End = Parameters<typeof ends>[0];
const ENDS: string[] = ["running", "completed", "failed", "timeout", "cancelled", "lost", "released"] satisfies End[];
const isEnd = (type: string): type is End => ENDS.includes(type);

/** How an attempt ended. */
export const attemptStatus = (status: string): string => (isEnd(status) ? ends(status) : status);
