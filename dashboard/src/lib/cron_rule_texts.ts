// Why a cron expression, or the times of a schedule, were refused, in Korean.
import { type Sentence, translated } from "./sentences";

/** The fields of an expression, with what each may be. */
const FIELDS: Record<string, string> = {
  second: "초 0–59, 예: 0, */15, 0,30",
  minute: "분 0–59, 예: 0, */15, 0,30",
  hour: "시 0–23, 예: 9, 9-17, */2",
  "day of month": "일 1–31, 예: 1, 1,15, L(마지막 날), LW(마지막 평일)",
  month: "월 1–12 또는 JAN–DEC, 예: 1,7, MAR-MAY",
  weekday: "요일 0–7 또는 SUN–SAT, 예: MON-FRI, FRI#2(둘째 금요일), 5L(마지막 금요일)",
};

const REASONS: Sentence[] = [
  [/^a term is empty/, "빈 항목이 있습니다."],
  [/^\? must be the whole/, "?는 일이나 요일 필드 전체로만 쓸 수 있습니다."],
  [/^the shortest interval/, "가장 짧은 간격은 1초이며, 간격은 정수로 씁니다."],
  [/^the step (.+) is not an integer/, "간격 $1은(는) 정수가 아닙니다."],
  [/^a step of 0 /, "간격이 0이면 앞으로 나아가지 않습니다."],
  [/^a step needs/, "간격 앞에는 *, 숫자, 범위 중 하나가 있어야 합니다."],
  [/^a step of (\S+) is longer than the (\S+)/, "간격 $1은(는) 필드의 값 $2개보다 길어 효과가 없습니다."],
  [/^# belongs/, "#은 요일에만 쓸 수 있습니다."],
  [/^the last (\S+) is written (\S+)/, "마지막 $1은(는) $2(으)로 씁니다."],
  [/^(\S+) has no meaning/, "이 필드에서는 $1을(를) 쓸 수 없습니다."],
  [/^# must follow/, "#은 요일 하나 뒤에만 쓸 수 있습니다."],
  [/^# must be followed/, "# 뒤에는 몇째 주인지 1–5로 써야 합니다."],
  [/^the range ends .+ write (.+)\)$/, "범위의 끝이 시작보다 앞섭니다. 끝을 넘어 이어지는 범위는 $1처럼 쓰세요."],
  [/^(\S+) is not among (\S+)/, "$1은(는) $2에 없습니다."],
  [/^unknown name (.+) \(did you mean (\S+)\?\)$/, "모르는 이름 $1입니다. 혹시 $2인가요?"],
  [/^unknown name (.+)$/, "모르는 이름 $1입니다."],
  [/^it is not a number/, "숫자가 아닙니다."],
  [/^a value is missing/, "값이 빠져 있습니다."],
];

const REMEDIES: Sentence[] = [
  [/^for an interval write (.+) \(minutes\) or (.+) \(sec/, "간격은 $1(분)이나 $2(초, 최소 1초)처럼 쓰세요."],
  [
    /^a schedule does not know/,
    "스케줄은 컴퓨터가 언제 켜지는지 모릅니다. 태스크를 직접 실행하거나 시각(run_at)을 정하세요.",
  ],
  [/^use (.+), or fields, for example (.+)/, "$1 또는 $2 같은 필드를 쓰세요."],
];

export const CRON_SENTENCES: Sentence[] = [
  [
    /^(second|minute|hour|day of month|month|weekday) must be .+?, got ('.*?'|".*?"): (.+)/,
    (field = "", got, reason = "") => {
      const [name, known] = (FIELDS[field] ?? "").split(/ (.*)/);
      const why = translated(REASONS, reason);
      return why && `${name} 필드 ${got}: ${why} 쓸 수 있는 값: ${known}`;
    },
  ],
  [
    /^must have at most (\S+) expressions joined by (\S+), got (\S+);/,
    "표현식은 $2로 이어 최대 $1개까지 쓸 수 있습니다. 받은 개수: $3. 스케줄을 여러 개 만드세요.",
  ],
  [/^must be at most (\S+) characters, got (\S+); for example (.+)/, "최대 $1자여야 합니다. 받은 길이: $2. 예: $3"],
  [
    /^must not contain the character (.+) \(position (\d+)\); .+ example (.+)/,
    "$2번째 글자 $1은(는) 쓸 수 없습니다. 예: $3",
  ],
  [
    /^must match at .+?, got (.+), which never .+ example (.+)/,
    "$1은(는) 2월 30일처럼 없는 날이라 실행될 날짜가 없습니다. 달의 마지막 날은 L로 쓰세요. 예: $2",
  ],
  [
    /^must have 5 fields .+ got (\w+)( \(there is no .+\))?; for example (.+)/,
    (got, years, example) =>
      `필드가 5개(분, 시, 일, 월, 요일)이거나 앞에 초를 더해 6개여야 합니다. 받은 개수: ${got === "none" ? 0 : got}${years ? "(연도 필드는 없습니다)" : ""}. 예: ${example}`,
  ],
  [
    /^must be a known macro .+?, got (.+?); (.+)/,
    (got, remedy = "") => {
      const instead = translated(REMEDIES, remedy);
      return instead && `${got}은(는) 아는 매크로도 cron 필드도 아닙니다. ${instead}`;
    },
  ],
  [/^must be from 0 \(none\) to (\S+) seconds, for example (\S+)/, "0(없음)부터 $1초까지여야 합니다. 예: $2"],
  [
    /^must be seconds from 0 to a day, like (\S+) or (\S+), got (.+)/,
    "0초부터 하루까지여야 합니다. 예: $1, $2. 받은 값: $3",
  ],
  [/^must not be combined with cron;/, "cron과 함께 쓸 수 없습니다. 둘 중 하나를 비우세요."],
  [/^must not be combined with run_at,/, "run_at과 함께 쓸 수 없고, cron과만 쓸 수 있습니다. 비우세요."],
  [
    /^must leave a time at which (.+) fires, .+ until (\S+);/,
    "$1이(가) 실행될 시각이 $2 전에는 없습니다. 다른 시각을 고르거나 비우세요.",
  ],
  [
    /^must leave a time at which (.+) fires, .+ year (\S+);/,
    "$1이(가) 실행될 시각이 $2년이 되기 전에는 없습니다. 다른 시각을 고르거나 비우세요.",
  ],
  [
    /^must be given, for example (".+?"), unless run_at is, for example (".+?")/,
    "run_at(예: $2)이 없으면 필요합니다. 예: $1",
  ],
  [
    /^must be in the future \(now: (\S+)\), got (\S+); .+ example (\S+), or/,
    "지금($1)보다 뒤여야 합니다. 받은 값: $2. $3처럼 더 늦은 시각을 고르거나 태스크를 직접 실행하세요.",
  ],
  [
    /^must be between starts_at and ends_at;/,
    "starts_at과 ends_at 사이여야 합니다. 시각이 하나뿐이면 그 둘을 비우세요.",
  ],
  [/^must have an offset .+? like (\S+), got (.+)/, "$1처럼 시와 분으로 된 오프셋이어야 합니다. 받은 값: $2"],
  [
    /^must be an IANA time zone, got (.+); an offset alone/,
    "IANA 시간대여야 합니다. 받은 값: $1. 오프셋만으로는 서머 타임을 알 수 없으니 Asia/Seoul 같은 지역이나 UTC를 쓰세요.",
  ],
  [
    /^must be an IANA time zone, got (.+); use a name like (\S+) or (\S+)/,
    "IANA 시간대여야 합니다. 받은 값: $1. $2, $3 같은 이름을 쓰세요.",
  ],
];
