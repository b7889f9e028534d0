import { expect, vi } from 'vitest';
import { minRaw } from '../../../src/kernel/amount.ts';
import { AGENT_KEY } from '../gateway-world.ts';
import type { StreamUpstream } from '../stream-upstream.ts';
import { RECORDING } from './goods.ts';
import type { Mode } from './modes.ts';
import { readOverSocket } from './read-over-socket.ts';
import type { Goods } from './reckoning.ts';

/** Where the money of the one agent is. */
export type Books = {
  /** All that has ever been charged, by its balance and by the rows of its history, which agree. */
  chargedRaw(): Promise<bigint>;
  openHolds(): Promise<number>;
};

/** What a mode came to, in figures that have to be the same. */
export type Tally = {
  readonly mode: string;
  readonly runs: number;
  /** Refused because nothing was delivered. */
  readonly refused: number;
  /** Σ of what clients were told: in the head, or in the comment at a stream's end. */
  readonly toldRaw: bigint;
  readonly ledgerRaw: bigint;
  /** By this test's own reckoning of what the upstreams sent: where clients left, no more than this. */
  readonly owedRaw: bigint;
  /** When each has had its time. */
  readonly holdsLeft: number;
  /** The most that was under way between the upstream and its clients at any time, sockets and all. */
  readonly mostUnderWay: number;
};

/** Asked for in turn, so that none fails so often, or is asked again so soon, that it has been given a rest. */
export const SOURCES = 4_096;
const AT_ONCE = 48;
const SETTLING = { timeout: 5_000, interval: 20 };
let asked = 0;

type Told = {
  readonly costRaw: bigint;
  readonly status: number;
  readonly bytes: Buffer;
  readonly isCut: boolean;
};

type World = {
  readonly baseUrl: string;
  readonly upstream: StreamUpstream;
  readonly books: Books;
};

/** Runs every script of a mode, some at a time, and compares what each client got. */
export async function runMode({ baseUrl, upstream, books }: World, goods: Goods, mode: Mode) {
  const { scripts, isLeft = false } = mode;
  upstream.play((asked) => scripts[runOf(asked)] ?? { pieces: [] });
  const before = await books.chargedRaw();
  const sentBefore = upstream.sent.bytes;
  upstream.seen.length = 0;
  const flow = { taken: 0, most: 0 };
  let [toldRaw, owedRaw, refused] = [0n, 0n, 0];

  const take = (bytes: number) => {
    flow.most = Math.max(flow.most, upstream.sent.bytes - sentBefore - flow.taken);
    flow.taken += bytes;
  };
  const runOne = async (run: number) => {
    const { pieces, ends = 'end' } = scripts[run] ?? { pieces: [] };
    const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    const hasEnded = ends === 'end';
    const owed = goods.owed(sent, hasEnded);
    const costRaw = minRaw(owed.costRaw, goods.heldRaw);
    owedRaw += costRaw;
    const bought = buy(baseUrl, goods, run, take);
    if (isLeft) return leave(upstream, bought, run);
    const told = await bought.told;
    const delivered = owed.delivered && named(owed.delivered, bought.model);
    compare(goods, told, delivered, { run, mode: mode.name, hasEnded });
    expect({ run, costRaw: told.costRaw }).toEqual({ run, costRaw });
    toldRaw += told.costRaw;
    if (owed.delivered === undefined) refused++;
  };
  for (let at = 0; at < scripts.length; at += AT_ONCE) {
    const runs = scripts.slice(at, at + AT_ONCE).map((_, i) => runOne(at + i));
    await Promise.all(runs);
  }
  const holdsLeft = await heldAtLast(books);
  const ledgerRaw = (await books.chargedRaw()) - before;
  const tally: Tally = {
    mode: `${goods.name}: ${mode.name}`,
    runs: scripts.length,
    refused,
    toldRaw,
    owedRaw,
    ledgerRaw,
    holdsLeft,
    mostUnderWay: flow.most,
  };
  return tally;
}

/** Which run a request that has reached the upstream is of. */
function runOf({ run, stop, stop_sequences, user }: Readonly<Record<string, unknown>>): number {
  const [mark] = (stop_sequences ?? stop ?? [run ?? user]) as unknown[];
  return Number(mark);
}

/** Waits for the last hold to be settled, and says how many never were: the caller judges that. */
async function heldAtLast(books: Books): Promise<number> {
  const isOver = async () => (await books.openHolds()) === 0;
  await vi.waitUntil(isOver, SETTLING).catch(() => undefined);
  return books.openHolds();
}

/** A tally in a line, for the report of the tests. */
export const lineOf = ({ mode, runs, refused, holdsLeft, mostUnderWay, ...sums }: Tally): string =>
  [
    mode,
    `${runs} runs, ${refused} refused`,
    `told ${sums.toldRaw}, ledger ${sums.ledgerRaw}, owed ${sums.owedRaw}`,
    `${holdsLeft} holds left`,
    `${mostUnderWay} bytes under way`,
  ].join(' | ');

type Purchase = { readonly told: Promise<Told>; readonly model: string; leave(): void };

/** An answer under the name that the client has for the model. */
const named = (answer: Buffer, model: string): Buffer =>
  Buffer.from(
    answer.toString('latin1').replace(/"model":"(?:[^"\\]|\\.)*"/g, `"model":"${model}"`),
    'latin1',
  );

/** Buys one answer and reads it to its end, whichever. */
function buy(baseUrl: string, goods: Goods, run: number, take: (bytes: number) => void): Purchase {
  const { tagged = () => ({ run }) } = goods;
  const wanted = { ...goods.wanted, ...tagged(run), model: `${goods.id}/${asked++ % SOURCES}` };
  const isForm = goods.modality === 'stt';
  const leaving = new AbortController();
  const read = async () => {
    const { signal } = leaving;
    if (goods.isSocket === true) {
      return readOverSocket(baseUrl + goods.path, wanted, { signal, take });
    }
    const response = await fetch(baseUrl + goods.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}` },
      body: isForm ? formOf(wanted) : JSON.stringify(wanted),
      signal,
    });
    const chunks: Uint8Array[] = [];
    let isCut = false;
    try {
      for await (const chunk of response.body ?? []) {
        chunks.push(chunk);
        take(chunk.byteLength);
      }
    } catch {
      isCut = true;
    }
    const bytes = Buffer.concat(chunks);
    const comment = /^: svc-cost-usdc=(\d+)$/m.exec(bytes.toString('latin1'));
    const costRaw = BigInt(response.headers.get('x-svc-cost-usdc') ?? comment?.[1] ?? '0');
    return { costRaw, status: response.status, bytes, isCut };
  };
  return { told: read(), model: wanted.model, leave: () => leaving.abort() };
}

/** Goes away while the upstream still writes, before or behind the answer's head as it happens. */
async function leave(upstream: StreamUpstream, bought: Purchase, run: number): Promise<void> {
  const isAsked = () => upstream.seen.some((asked) => runOf(asked) === run);
  await expect.poll(isAsked).toBe(true);
  bought.leave();
  await bought.told.catch(() => undefined);
}

function formOf(wanted: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(wanted)) form.append(name, String(value));
  form.append('file', new Blob([RECORDING]), 'said.wav');
  return form;
}

function compare(
  goods: Goods,
  told: Told,
  delivered: Buffer | undefined,
  where: { readonly run: number; readonly mode: string; readonly hasEnded: boolean },
): void {
  const { status, isCut } = told;
  if (delivered === undefined) {
    expect({ ...where, status, isCut }).toEqual({ ...where, status: 502, isCut: false });
    return;
  }
  // What is no stream of events can only be cut off, and what is on its way then is lost.
  const isFile = goods.contentType.startsWith('audio/');
  const received = goods.received(told.bytes);
  const isSame =
    isFile && !where.hasEnded
      ? delivered.subarray(0, received.length).equals(received)
      : delivered.equals(received);
  expect({ ...where, status, isCut, isSame }).toEqual({
    ...where,
    status: 200,
    isCut: isFile && !where.hasEnded,
    isSame: true,
  });
}
