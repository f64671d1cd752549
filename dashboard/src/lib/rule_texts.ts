// Rules that refused requests broke, in Korean: their texts are an open set, but most have one of these forms.
import { CRON_SENTENCES } from "./cron_rule_texts";
import { type Sentence, translated } from "./sentences";
import { WORKFLOW_SENTENCES } from "./workflow_rule_texts";

/** What a value must be. Each ends in Hangul, so that the verb behind it can be chosen. */
const RULES: Sentence[] = [
  [/^an integer from (\S+) to (\S+)$/, "$1부터 $2까지의 정수"],
  [/^an integer of at least (\S+)$/, "$1 이상의 정수"],
  [/^an integer of at most (\S+)$/, "$1 이하의 정수"],
  [/^an integer$/, "정수"],
  [/^an even integer from (\S+) to (\S+)$/, "$1부터 $2까지의 짝수"],
  [/^a number from (\S+) to (\S+)$/, "$1부터 $2까지의 수"],
  [/^a number of at least (\S+)$/, "$1 이상의 수"],
  [/^a number of at most (\S+)$/, "$1 이하의 수"],
  [/^a number of seconds above 0 and up to (\S+)$/, "0보다 크고 $1 이하인 초 단위의 수"],
  [/^a number$/, "수"],
  [/^a string of (\S+) to (\S+) characters$/, "$1~$2자의 문자열"],
  [/^a string of (\S+) to (\S+) characters without NUL$/, "NUL이 없는 $1~$2자의 문자열"],
  [/^at most (\S+) characters$/, "최대 $1자의 문자열"],
  [/^a string of at most (\S+) characters$/, "최대 $1자의 문자열"],
  [/^a string of at most (\S+) characters without NUL$/, "NUL이 없는 최대 $1자의 문자열"],
  [/^a string of at most (\S+) bytes without NUL$/, "NUL이 없는 최대 $1바이트의 문자열"],
  [/^a string of at least (\S+) characters$/, "$1자 이상의 문자열"],
  [/^a string$/, "문자열"],
  [/^true or false$/, "true 또는 false 값"],
  [/^null$/, "null 값"],
  [/^one of (.+)$/, "$1 중 하나"],
  [/^an array of (\S+) to (\S+) items$/, "항목이 $1~$2개인 배열"],
  [/^an array of at most (\S+) items$/, "항목이 최대 $1개인 배열"],
  [/^an array of at least (\S+) items$/, "항목이 $1개 이상인 배열"],
  [/^an array$/, "배열"],
  [/^an object of (\S+) to (\S+) entries$/, "항목이 $1~$2개인 객체"],
  [/^an object of at most (\S+) entries$/, "항목이 최대 $1개인 객체"],
  [/^an object of at least (\S+) entries$/, "항목이 $1개 이상인 객체"],
  [/^an object$/, "객체"],
  [/^a moment in ISO-8601, like (\S+)$/, "$1 같은 ISO-8601 시각"],
  [/^a cron expression, like (.+)$/, "$1 같은 cron 표현식"],
  [/^an instant in the years (\S+) to (\S+)$/, "$1년부터 $2년까지의 시각"],
  [/^an IANA time zone$/, "IANA 시간대"],
  [/^a UUID in lower-case text form$/, "소문자로 쓴 UUID 문자열"],
  [
    /^a UUID in lower-case text form, or its first characters, at least (\S+)$/,
    "소문자로 쓴 UUID 또는 그 앞부분 $1자 이상",
  ],
  [
    /^a name of (\S+) to (\S+) letters, digits, - and _ that begins with a letter$/,
    "글자로 시작하고 글자, 숫자, -, _로 된 $1~$2자의 이름",
  ],
  [/^an Apprise URL, or the name of a secret that holds one$/, "Apprise URL 또는 그것이 담긴 시크릿의 이름"],
  [/^the next_cursor of (?:a page|an answer)$/, "앞선 응답의 next_cursor 값"],
  [/^the `after` of a page$/, "앞선 응답의 after 값"],
  [/^the id of an event from (\S+) to (\S+), or (\S+)$/, "$1부터 $2까지의 이벤트 ID 또는 $3 꼴의 문자열"],
  [
    /^the plain name of a public function of the library, or NO_OPERATION$/,
    "NO_OPERATION 또는 라이브러리에 있는 공개 함수의 이름",
  ],
  [/^base64 of (\S+) to (\S+) random bytes: (.+)$/, "$3처럼 무작위 $1~$2바이트를 base64로 쓴 문자열"],
  [
    /^a text of (\S+) to (\S+) characters without NUL, at best base64 of (\S+) to (\S+) random bytes: (.+)$/,
    "NUL이 없는 $1~$2자, 되도록 $5처럼 무작위 $3~$4바이트를 base64로 쓴 문자열",
  ],
  [/^an address like (\S+)$/, "$1 같은 주소"],
  [/^an address like (\S+) or (\S+)$/, "$1 또는 $2 같은 주소"],
];

function nounOf(rule: string): string | undefined {
  const found = translated(RULES, rule);
  if (found !== undefined) return found;
  const either = rule.split(" or ").map((each) => (each === rule ? undefined : nounOf(each)));
  return either.includes(undefined) ? undefined : either.join(" 또는 ");
}

/** “It must be …”: the verb has another form after a vowel. */
function must(rule: string): string | undefined {
  const noun = nounOf(rule);
  if (noun === undefined) return undefined;
  const vowel = (noun.charCodeAt(noun.length - 1) - 0xac00) % 28 === 0;
  return `${noun}${vowel ? "여야" : "이어야"} 합니다.`;
}

const meant = (name: string): string => (name ? ` 혹시 ${name.replaceAll(" or ", ", ")}인가요?` : "");
const given = (value: string): string => (value ? ` 받은 값: ${value}` : "");

/** Those of one kind of request come first: they say more than the forms that all have. */
const SENTENCES: Sentence[] = [
  ...CRON_SENTENCES,
  ...WORKFLOW_SENTENCES,
  [
    /^must be (.+?)(?:, got (.+?))?(?:; did you mean (.+)\?)?$/s,
    (rule = "", got = "", name = "") => must(rule)?.concat(given(got), meant(name)),
  ],
  [/^is required; it must be (.+)$/s, (rule = "") => must(rule) && `필수입니다. ${must(rule)}`],
  [
    /^each name must be (.+?), got (.+)$/s,
    (rule = "", got = "") => must(rule) && `각 이름은 ${must(rule)}${given(got)}`,
  ],
  [
    /^unknown field;(?: did you mean (.+?)\?)? known fields are (.*)$/s,
    (name = "", known) => `알 수 없는 필드입니다.${meant(name)} 쓸 수 있는 필드: ${known}`,
  ],
  [/^must not be before (\w+) \((.+?)\), got (.+?); /, "$1($2)보다 앞설 수 없습니다. 받은 값: $3"],
  [/^must not be empty$/, "비어 있으면 안 됩니다."],
  [/^must not contain a NUL character$/, "NUL 문자를 담을 수 없습니다."],
];

/** A refusal in Korean, after the name of its field; undefined if it has another form. */
export function sentenceText(detail: string, field: string | null): string | undefined {
  const before = field !== null && detail.startsWith(`${field}: `) ? `${field}: ` : "";
  const text = translated(SENTENCES, detail.slice(before.length));
  return text && before + text;
}
