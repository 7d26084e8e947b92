/** The guard with a dialler that opens no socket: which addresses would be dialled, public ones among them. */
import { EventEmitter } from "node:events";
import type { buildConnector } from "undici";
import { describe, expect, it } from "vitest";
import { createConnector, type Lookup } from "../../../../src/crawl/http/guarded-connector.ts";
import { SPECIAL_BLOCKS } from "../../../support/special-addresses.ts";

type Dialler = typeof buildConnector;
type DialOptions = Parameters<Dialler>[0] & {
  lookup: (host: string, asked: { all: boolean }, then: (...answer: unknown[]) => void) => void;
};

/** Notes what a socket would be given; the socket says that it is at `at`, or at what was dialled. */
function recording(at?: string): { dialler: Dialler; dialled: string[] } {
  const dialled: string[] = [];
  const dialler = ((options: DialOptions) =>
    ({ hostname }: buildConnector.Options, callback: buildConnector.Callback) => {
      const open = (addresses: string[]): void => {
        dialled.push(...addresses);
        const socket = { remoteAddress: at ?? addresses[0], destroy: () => {}, push: () => true };
        callback(null, Object.assign(new EventEmitter(), socket) as never);
      };
      if (!/[a-z]\./.test(hostname)) return open([hostname]);
      options.lookup(hostname, { all: true }, (cause, found) => {
        if (cause) callback(cause as Error, null);
        else open((found as Array<{ address: string }>).map(({ address }) => address));
      });
    }) as unknown as Dialler;
  return { dialler, dialled };
}

/** A name server that answers each question with the next list. */
function answering(...lists: string[][]): Lookup {
  let asked = 0;
  return (_, __, callback) => {
    const list = lists[Math.min(asked++, lists.length - 1)] as string[];
    callback(
      null,
      list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
}

async function dial(
  host: string,
  { lists = [[]], at }: { lists?: string[][]; at?: string },
): Promise<{ dialled: string[]; fault: string }> {
  const { dialler, dialled } = recording(at);
  const { connect } = createConnector({
    allowPrivate: false,
    connectMs: 1_000,
    allowH2: false,
    keepAliveMs: 1_000,
    lookup: answering(...lists),
    dialler,
  });
  const fault = await new Promise<string>((resolve) => {
    const target = { hostname: host, host, protocol: "http:", port: "80" };
    connect(target as never, (...[cause]) =>
      resolve((cause as { fault?: string } | null)?.fault ?? ""),
    );
  });
  return { dialled, fault };
}

describe("what is dialled", () => {
  it("a public address is, the private ones beside it are not", async () => {
    const lists = [["127.0.0.1", "93.184.216.34", "10.1.1.1", "2606:4700::1111"]];
    const { dialled, fault } = await dial("mixed.example", { lists });
    expect([dialled, fault]).toEqual([["93.184.216.34", "2606:4700::1111"], ""]);
  });

  it("a name is asked for once: what it would answer then is never dialled", async () => {
    const public1 = ["93.184.216.34"];
    expect(await dial("a.example", { lists: [public1, ["127.0.0.1"]] })).toEqual({
      ...{ dialled: public1, fault: "" },
    });
    expect(await dial("a.example", { lists: [["127.0.0.1"], public1] })).toEqual({
      ...{ dialled: [], fault: "address" },
    });
  });

  it.each(SPECIAL_BLOCKS.filter(({ carries }) => carries === undefined))(
    "$block, $name, is not, be it a literal or what a name leads to",
    async ({ block }) => {
      const address = block.replace(/\/\d+$/, "");
      const literal = address.includes(":") ? `[${address}]` : address;
      expect(await dial(literal, {})).toEqual({ dialled: [], fault: "address" });
      expect(await dial("a.example", { lists: [[address]] })).toEqual({
        ...{ dialled: [], fault: "address" },
      });
    },
  );

  it("a socket that stands elsewhere than was dialled is closed", async () => {
    const { fault } = await dial("a.example", {
      lists: [["93.184.216.34"]],
      at: "169.254.169.254",
    });
    expect(fault).toBe("address");
  });
});
