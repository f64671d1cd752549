// Why a workflow was refused, in Korean: its times, steps, texts with variables, targets and addresses.
import { type Sentence, translated } from "./sentences";

/** What to do about a name that is not known. */
const NAMES: Sentence[] = [
  [/^did you mean (.+)\?$/, "혹시 $1인가요?"],
  [/^use one of (.+)/, "쓸 수 있는 이름: $1"],
  [/^declare it first/, "먼저 선언하세요."],
];

const TEMPLATES: Sentence[] = [
  [/^must be at most (\S+) characters when rendered;/, "값을 넣은 글이 최대 $1자여야 합니다. 글이나 값을 줄이세요."],
  [
    /^must have names of at most (\S+) .+ got (\S+) at line (\d+), column (\d+)/,
    "이름은 최대 $1자여야 합니다. 받은 길이: $2($3번째 줄 $4번째 글자)",
  ],
  [
    /^must not contain \w+ \((.+?)\), got (.+) at line (\d+), column (\d+);/,
    "$1은(는) 쓸 수 없습니다. 받은 값: $2($3번째 줄 $4번째 글자). {{ 이름 }}만 쓰세요.",
  ],
  [
    /^must have only a name between .+?, got (.+) at line (\d+), column (\d+);/,
    "{{와 }} 사이에는 필터, 호출, 연산자 없이 이름만 쓸 수 있습니다. 받은 값: $1($2번째 줄 $3번째 글자)",
  ],
  [
    /^must have a value .+? none for (.+) at line (\d+), column (\d+);/,
    "변수 $1($2번째 줄 $3번째 글자)의 값이 없습니다. 선언하거나 값을 주세요.",
  ],
  [
    /^must use known variables, got (.+) at line (\d+), column (\d+); (.+)/,
    (name, line, column, remedy = "") =>
      `모르는 변수 ${name}입니다(${line}번째 줄 ${column}번째 글자). ${translated(NAMES, remedy)}`,
  ],
];

export const WORKFLOW_SENTENCES: Sentence[] = [
  ...TEMPLATES,
  // Times.
  [/^must be a list .+ weekday, for example (.+)/, "$1처럼 요일이 하나 이상 있는 목록이어야 합니다."],
  [
    /^must be a day .+ from (\d+) to (\d+), got (\S+);/,
    "$1일부터 $2일까지의 날이어야 합니다. 받은 값: $3. 더 짧은 달에는 말일에 실행됩니다.",
  ],
  [
    /^is required for monthly; .+ from (\d+) to (\d+)/,
    "매월 반복에는 필수입니다. $1일부터 $2일까지의 날이어야 합니다.",
  ],
  [/^must be a time .+ as (\S+) or (\S+), got (.+)/, "$1, $2 같은 시각이어야 합니다. 받은 값: $3"],
  [/^must be omitted for (\w+); .+ (\w+)$/, "주기가 $1이면 비워야 합니다. $2에만 쓰는 필드입니다."],
  [/^must be omitted for the mode (\w+)/, "방식이 $1이면 비워야 합니다."],
  [/^is required for the mode (\w+)/, "방식이 $1이면 필수입니다."],
  [
    /^must be in the future, got (\S+);/,
    "지금보다 뒤여야 합니다. 받은 값: $1. 바로 실행하려면 방식을 immediate로 하세요.",
  ],
  // Steps and variables.
  [
    /^must be unique .+?, got (.+) twice;/,
    "워크플로우 안에서 겹치지 않아야 합니다. $1이(가) 두 번 있습니다. 하나의 이름을 바꾸세요.",
  ],
  [
    /^must refer only to steps before it, .+?; (.+)/,
    (rule = "") =>
      `앞선 단계만 가리킬 수 있습니다. 단계는 자신이나 뒤의 단계를 기다릴 수 없습니다. ${translated(TEMPLATES, rule)}`,
  ],
  [/^must not be a name that/, "모든 실행이 이미 쓰는 이름입니다. 다른 이름으로 바꾸세요."],
  [
    /^unknown variable; did you mean (.+?)\? declared are: (.*)/,
    "선언되지 않은 변수입니다. 혹시 $1인가요? 선언된 변수: $2",
  ],
  [/^unknown variable; declared are: none$/, "선언된 변수가 없습니다."],
  [/^unknown variable; declared are: (.*)/, "선언되지 않은 변수입니다. 선언된 변수: $1"],
  [/^must be omitted for a \w+ step, which has (.+)/, "이 종류의 단계에는 없는 필드입니다. 쓸 수 있는 필드: $1"],
  [/^is required for a message step;/, "메시지 단계에는 필수입니다. 문자열이어야 합니다."],
  [/^is required for an http step; .+ (\S+)$/, "HTTP 호출 단계에는 필수입니다. $1 같은 URL을 쓰세요."],
  [/^is required for a task step;/, "태스크 단계에는 필수입니다. 등록된 태스크의 이름을 쓰세요."],
  [/^is required unless every recipient/, "받는 사람마다 따로 있지 않으면 필수입니다."],
  [/^is required, for the step has no target/, "단계에 공통으로 보낼 곳이 없으므로 필수입니다."],
  [/^must be one of seconds, .+ got none$/, "seconds, minutes, until 중 하나가 있어야 합니다."],
  [/^must be one of seconds, .+ got (.+)/, "seconds, minutes, until 중 하나만 있어야 합니다. 받은 것: $1"],
  [/^must be whole, got one with (\S+) that/, "가려진 부분($1)이 보여 준 것과 다릅니다. 전체를 새로 쓰세요."],
  [
    /^must be whole, got (\S+) for a step/,
    "이 호스트의 단계에 그런 헤더가 없어 $1의 값을 알 수 없습니다. 새로 쓰세요.",
  ],
  [/^must be a header on one line/, "한 줄로 된 헤더여야 합니다."],
  [/^there is no task (.+); did you mean (.+)\?$/, "$1. 혹시 $2인가요?"],
  [/^there is no task (.+); a task/, "$1. 태스크는 그것이 있는 워커가 시작하면 등록됩니다."],
  // Targets of messages, secrets and addresses.
  [/^must be an Apprise URL, or the name of a secret$/, "Apprise URL 또는 시크릿의 이름이어야 합니다."],
  [/^must be text like (\S+) or the name/, "$1 같은 문자열 또는 시크릿의 이름이어야 합니다."],
  [/^must be at most (\S+) printable/, "제어 문자가 없는 최대 $1자의 문자열이어야 합니다."],
  [
    /^must be the target itself, not one with (\S+);/,
    "$1로 가리지 않은, 보낼 곳 그 자체여야 합니다. 시크릿은 이름으로 쓰세요.",
  ],
  [/^must be a complete target/, "빠지거나 잘못 쓴 것이 있어 보낼 곳으로 쓸 수 없습니다."],
  [/^must have valid addresses;/, "받는 사람 가운데 올바르지 않은 주소가 있습니다."],
  [
    /^must be of an allowed kind, got (.+?); use one of (.+), or/,
    "허용되지 않은 종류 $1입니다. 쓸 수 있는 종류: $2. 다른 종류는 설정 message_schemes에서 허용하세요.",
  ],
  [
    /^must not have the parameter (.+?): .+ use only (.+)/,
    "매개변수 $1은(는) 쓸 수 없습니다. 보내는 컴퓨터의 파일을 읽지 않는 것만 허용됩니다: $2",
  ],
  [/^must not name a file;/, "파일을 가리킬 수 없습니다. file:로 시작하는 매개변수를 지우세요."],
  [
    /^must name a declared secret, got (.+?); did you mean (.+)\?$/,
    "선언된 시크릿의 이름이어야 합니다. 받은 값: $1. 혹시 $2인가요?",
  ],
  [
    /^must name a declared secret, got (.+?); declare/,
    "선언된 시크릿의 이름이어야 합니다. 받은 값: $1. hanbeon.toml의 [secrets]에 선언하세요.",
  ],
  [/^must be an http or https URL like (\S+)/, "$1 같은 http 또는 https URL이어야 합니다."],
  [/^must have a fixed host;/, "호스트는 고정되어야 합니다. 변수는 그 뒤에 넣으세요."],
  [
    /^must not contain a user .+ like (.+)/,
    "주소는 화면과 로그에 남으므로 사용자나 비밀번호를 담을 수 없습니다. $1 같은 헤더를 쓰세요.",
  ],
  [/^must not contain spaces/, "공백, 제어 문자, 역슬래시를 담을 수 없습니다. 퍼센트 인코딩으로 쓰세요."],
  [/^must have a valid host, got ('.*?'|".*?")/, "올바른 호스트여야 합니다. 받은 값: $1"],
  [/^must have a port from (\d+) to (\d+), got (\d+)/, "포트는 $1부터 $2까지여야 합니다. 받은 값: $3"],
];
