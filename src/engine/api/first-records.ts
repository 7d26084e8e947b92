/** The first records of a frontier, without a list of all of them. For the live page, which reads some each second. */
import type { RecordState } from "../../frontier/records/record-state.ts";
import { firstRecords } from "../queries/record-queries.ts";
import type { AsyncFrontier } from "../types/async-frontier.ts";
import type { Frontier, RecordView } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/** As the first `most` of `frontier.records({ state })`. On another thread or machine all of them are listed there. */
export async function readFirstRecords(
  frontier: Frontier | AsyncFrontier,
  state: RecordState,
  most: number,
): Promise<RecordView[]> {
  const lifecycle = lifecycleOf(frontier as Frontier);
  if (lifecycle !== undefined) {
    lifecycle.need();
    return firstRecords(lifecycle.intake, state, most);
  }
  const views: RecordView[] = [];
  for await (const view of frontier.records({ state })) {
    if (views.push(view) >= most) break;
  }
  return views;
}
