/** Laws of views: what looking at a frontier may do to it. */
import { type Model, type ModelRecord, modelAt } from "../model-state.ts";

export const VIEW_LAWS = {
  /** peek hands out from a copy. */
  modelToPeekAt: (model: Model): Model => modelAt(model, model.now()),

  /** The end of a lease can make something due. Undefined: the record is not leased. */
  endToWaitFor: ({ lease }: ModelRecord): number | undefined => lease?.deadlineMs,
};
