// Chains: the list, each with its walk in one line.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Chain, call, curl } from "../../lib/api";
import { number, time } from "../../lib/format";
import { link, place, refine } from "../../lib/router";
import { t } from "../../lib/texts";
import { Act } from "../../ui/act";
import { PagedTable, usePaged } from "../../ui/paged_table";
import { Empty } from "../../ui/parts";
import { NewChainForm } from "./new_chain";
import { CHAIN_STATES, w } from "./texts";
import { MiniWalk, StateBadge } from "./walk";

const JOBS = [{ forward_operation: "book", backward_operation: "unbook" }, { forward_operation: "pay" }];
const PAGE = 50;

export function Chains(): JSX.Element {
  const query = place.value.query;
  const state = CHAIN_STATES.find((each) => each === query.get("state"));
  const chains = usePaged<Chain>(
    (cursor, left) => call("GET /api/chains", { query: { state, limit: PAGE, cursor } }, left),
    state ?? "",
    5_000,
  );
  const isOpen = useSignal(false);
  return (
    <>
      {isOpen.value && <NewChainForm close={() => void (isOpen.value = false)} />}
      <div class="row">
        <span class="segments" role="group" aria-label={t("state")}>
          {[undefined, ...CHAIN_STATES].map((each) => (
            <button
              key={each ?? ""}
              type="button"
              aria-pressed={state === each}
              onClick={() => refine({ state: each ?? "" })}
            >
              {each === undefined ? w("all") : w(each)}
            </button>
          ))}
        </span>
        {!isOpen.value && (
          <Act kind="main" onClick={() => void (isOpen.value = true)}>
            {w("newChain")}
          </Act>
        )}
      </div>
      <PagedTable
        class="chains stacked"
        of={chains}
        empty={
          <Empty
            {...(state
              ? {}
              : { command: curl("POST /api/chains", { body: { queue_library: "mypkg.operations", jobs: JOBS } }) })}
          >
            {w(state ? "noneMatch" : "none")}
          </Empty>
        }
        moreText={w("more")}
        head={
          <>
            <th>{w("chain")}</th>
            <th>{t("state")}</th>
            <th>{w("walk")}</th>
            <th class="r">{w("runs")}</th>
            <th>{t("created")}</th>
          </>
        }
      >
        {chains.rows.map((chain) => (
          <tr key={chain.queue_id}>
            <td>
              <a class="strong" href={link(["chains", String(chain.queue_id)])}>
                {w("chainNumber", chain.queue_id)}
              </a>
              <small class="faint">{chain.queue_library}</small>
            </td>
            <td>
              <StateBadge chain={chain} />
            </td>
            <td>
              <MiniWalk chain={chain} />
            </td>
            <td class="r" data-label={w("runs")}>
              {number(chain.run)}
            </td>
            <td data-label={t("created")}>
              {time(chain.created_at)}
              <small class="faint">{chain.created_by}</small>
            </td>
          </tr>
        ))}
      </PagedTable>
    </>
  );
}
