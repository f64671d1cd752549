// Parts of the page that are fetched when they are first shown.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Part } from "../lib/surface";
import { t } from "../lib/texts";
import { words } from "../lib/words";
import { Button, Waiting } from "./parts";

const w = words(
  { notLoaded: "This page could not be loaded: the server cannot be reached, or has another version by now." },
  { notLoaded: "이 페이지를 불러오지 못했습니다. 서버에 연결할 수 없거나 서버의 버전이 바뀌었습니다." },
);

interface LazyProps<P> {
  part: Part<P>;
  /** The properties of the component. */
  of: P;
  /** As many lines stand in its place until it is there. */
  lines?: number;
}

export function Lazy<P extends object>({ part, of, lines = 6 }: LazyProps<P>): JSX.Element {
  useEffect(() => void part.load(), [part]);
  const Component = part.component.value;
  if (Component) return <Component {...of} />;
  if (Component === undefined) return <Waiting lines={lines} />;
  return (
    <p class="failure" role="alert">
      {w("notLoaded")} <Button onClick={() => location.reload()}>{t("reload")}</Button>
    </p>
  );
}
