// Reminders: the list.
import type { JSX } from "preact";
import { call, type Reminder } from "../../lib/api";
import { time } from "../../lib/format";
import { words } from "../../lib/words";
import { PagedTable, usePaged } from "../../ui/paged_table";
import { Empty } from "../../ui/parts";

const w = words(
  { none: "No reminder yet.", more: "More reminders", text: "Text", due: "Due" },
  { none: "알림이 없습니다.", more: "알림 더 보기", text: "내용", due: "예정" },
);

export function Reminders(): JSX.Element {
  const reminders = usePaged<Reminder>(
    (cursor, left) => call("GET /api/reminders", { query: { limit: 50, cursor } }, left),
    "",
    5_000,
  );
  return (
    <PagedTable
      class="stacked"
      of={reminders}
      empty={<Empty>{w("none")}</Empty>}
      moreText={w("more")}
      head={
        <>
          <th>{w("text")}</th>
          <th>{w("due")}</th>
        </>
      }
    >
      {reminders.rows.map((reminder) => (
        <tr key={reminder.id}>
          <td>{reminder.text}</td>
          <td data-label={w("due")}>{time(reminder.due_at)}</td>
        </tr>
      ))}
    </PagedTable>
  );
}
