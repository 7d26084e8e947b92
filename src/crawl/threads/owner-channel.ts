/**
 * A worker's channel to the owner of its crawl: messages are gathered and cross together at the end of a turn of the event loop.
 *
 *   post, ask ─▶ gathered ─▶ setImmediate ─▶ one batch ─▶ owner         answers ─▶ the promise of each ask
 */
import { BroadcastChannel, threadId } from "node:worker_threads";
import {
  type AskAnswer,
  type Batch,
  channelOf,
  type CountsPart,
  type Question,
  type ToOwner,
  type ToWorker,
} from "./crawl-messages.ts";

export type OwnerChannel = ReturnType<typeof openOwnerChannel>;

interface ChannelEnds {
  /** What has been counted since the last time, if anything. */
  readonly takePart: () => CountsPart | undefined;
  /** Called when nothing is under way any more, before the last batch. */
  readonly onLast: () => Promise<void>;
}

export function openOwnerChannel(crawl: string, { takePart, onLast }: ChannelEnds) {
  const channel = new BroadcastChannel(channelOf(crawl, threadId));
  const asked = new Map<number, (answer: AskAnswer) => void>();
  let messages: ToOwner[] = [];
  let serial = 0;
  let isWelcome = false;
  let isDue = false;
  let hasPageListener = true;
  const send = (isLast = false): void => {
    if (!isWelcome) return;
    const part = takePart();
    if (messages.length === 0 && part === undefined && !isLast) return;
    const batch: Batch = { messages, part, isLast };
    messages = [];
    channel.postMessage(batch);
  };
  const post = (message: ToOwner): void => {
    messages.push(message);
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      send();
    });
  };
  channel.onmessage = (event) => {
    const message = (event as { data: ToWorker }).data;
    if (message.kind === "welcome") {
      isWelcome = true;
      send();
    } else if (message.kind === "last") {
      void onLast()
        .catch((cause) =>
          messages.push({ kind: "fault", type: "pipeline", what: `close: ${String(cause)}` }),
        )
        .finally(() => send(true));
    } else if (message.kind === "answers") {
      hasPageListener = message.hasPageListener;
      for (const answer of message.list) {
        asked.get(answer.id)?.(answer);
        asked.delete(answer.id);
      }
    }
  };
  channel.unref();
  const hall = new BroadcastChannel(crawl);
  hall.postMessage({ worker: threadId });
  hall.close();
  return {
    post,
    ask(question: Question): Promise<AskAnswer> {
      const id = ++serial;
      return new Promise((resolve) => {
        asked.set(id, resolve);
        post({ ...question, id } as ToOwner);
      });
    },
    /** Whether the owner has a listener to pages. */
    get hasPageListener(): boolean {
      return hasPageListener;
    },
  };
}
