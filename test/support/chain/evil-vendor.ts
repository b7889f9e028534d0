import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { account, type Chain } from './chain.ts';
import { type EvilAnswer, type Facts, perform } from './evil-answer.ts';
import { type Payment, type Place, paymentIn } from './evil-challenge.ts';
import { toBase64 } from './hand-payer.ts';
import { closed, listening, PRICE_RAW } from './vendor.ts';

/** What happens to the money and to the buyer when a request arrives. */
export type Leg = {
  /**
   * When the authorization goes to the chain: before the answer, after it, never, when the test says so
   * (`settleHeld`), or before the answer and by a third party.
   */
  readonly settle?: 'first' | 'after' | 'never' | 'held' | 'stolen';
  /** How long the answer takes, after what is settled first. */
  readonly afterMs?: number;
  /** The answer waits for `release`. */
  readonly gated?: boolean;
  readonly answer: EvilAnswer;
};

export type Script = {
  /** Below the origin; one of its own where it is not said. */
  readonly path?: string;
  readonly priceRaw?: bigint;
  readonly payTo?: Address;
  readonly unpaid?: Leg;
  /** The n-th paid request gets the n-th stage, and the last one serves all later ones. */
  readonly paid?: Leg | readonly [Leg, ...Leg[]];
};

/** A request as it came, whatever was answered. */
export type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they stood on the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly payment: Payment | 'unreadable' | undefined;
};

export type EvilSettlement = {
  readonly nonce: Hex;
  readonly by: 'vendor' | 'thief';
  readonly hash: Hex;
  /** Nothing while the transaction waits for its block. */
  readonly moved: boolean | undefined;
};

export type EvilVendor = AsyncDisposable & {
  readonly origin: string;
  /** A URL of its own that follows the script; the honest one without it. */
  sell(script?: Script): string;
  /** What arrived at one URL, or at all. Any other path of the origin answers 200 and is recorded too. */
  seen(url?: string): Seen[];
  /** The nonces that were handed over, each once, in the order of their arrival. */
  nonces(url?: string): Hex[];
  /** Takes what is held to the chain now: what was paid at one URL, or all. */
  settleHeld(url?: string): Promise<void>;
  /** Lets gated answers go, those that wait now and those that come later: of one URL, or all. */
  release(url?: string): void;
  readonly settlements: EvilSettlement[];
};

const HONEST_UNPAID: Leg = { answer: { kind: 'challenge' } };
const HONEST_PAID: Leg = { settle: 'first', answer: { kind: 'answer' } };

/** The seven ways a paid request can end; `slow` waits for `release`, `late` for `settleHeld`. */
export const BATTERY = {
  clean: HONEST_PAID,
  timeout: { settle: 'first', answer: { kind: 'silence' } },
  broken: { settle: 'first', answer: { kind: 'answer', status: 500 } },
  double402: { settle: 'never', answer: { kind: 'challenge' } },
  slow: { settle: 'first', gated: true, answer: { kind: 'answer' } },
  late: { settle: 'held', answer: { kind: 'challenge' } },
  frontRun: {
    settle: 'stolen',
    answer: {
      kind: 'challenge',
      envelope: { error: 'invalid_exact_evm_nonce_already_used' },
    },
  },
} as const satisfies Record<string, Leg>;

/** Enough for any test; a load run beyond it is counted no further. */
const MAX_SEEN = 100_000;
/** No buyer is turned away for what he sends. */
const MAX_HEADER_BYTES = 256 * 1_024;
const VENDOR_GAS = 16;
const THIEF_GAS = 17;

type Gate = { readonly opened: Promise<void>; open(): void };
type Shelf = {
  readonly place: Place;
  readonly script: Script;
  readonly gate: Gate;
  paidLegs: number;
};

/** A vendor that does as it is told. Without a chain it can settle nothing, and costs no cryptography. */
export async function startEvilVendor(chain?: Chain): Promise<EvilVendor> {
  const shelves = new Map<string, Shelf>();
  const seen: Seen[] = [];
  const money = createMoney(chain);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const { method = '', url = '', headers, rawHeaders } = request;
      const payment = paymentIn(headers);
      if (seen.length < MAX_SEEN) seen.push({ method, url, headers, rawHeaders, body, payment });
      const shelf = shelves.get(pathOf(url));
      if (shelf === undefined) return response.writeHead(200).end('{"free":true}');
      const stage =
        payment === undefined ? (shelf.script.unpaid ?? HONEST_UNPAID) : nextPaid(shelf);
      const paid = typeof payment === 'object' ? payment : undefined;
      const hash = await money.before(stage, paid, shelf.place.url);
      if (stage.afterMs !== undefined) await sleep(stage.afterMs);
      if (stage.gated) await shelf.gate.opened;
      await perform(stage.answer, response, factsOf(shelf, stage, paid, hash));
      await money.after(stage, paid);
    })().catch(() => response.destroy());
  });
  const origin = await listening(server);
  const release = (url?: string) => {
    for (const { gate, place } of shelves.values()) {
      if (url === undefined || url === place.url) gate.open();
    }
  };
  const at = (url?: string) =>
    url === undefined ? seen : seen.filter((each) => `${origin}${pathOf(each.url)}` === url);
  return {
    origin,
    sell(script = {}) {
      const { path = `/thing-${shelves.size + 1}` } = script;
      const { priceRaw = PRICE_RAW, payTo = account(18).address } = script;
      const place = { url: `${origin}${path}`, payTo, priceRaw };
      shelves.set(path, { place, script, gate: createGate(), paidLegs: 0 });
      return place.url;
    },
    seen: at,
    nonces: (url) => [
      ...new Set(
        at(url).flatMap(({ payment }) =>
          typeof payment === 'object' ? [payment.transfer.nonce] : [],
        ),
      ),
    ],
    settleHeld: money.settleHeld,
    release,
    settlements: money.settlements,
    async [Symbol.asyncDispose]() {
      release();
      await closed(server);
    },
  };
}

const pathOf = (url: string) => url.split('?', 1)[0] ?? '';

function nextPaid(shelf: Shelf): Leg {
  const pipeline = [shelf.script.paid ?? HONEST_PAID].flat();
  const stage = pipeline[Math.min(shelf.paidLegs, pipeline.length - 1)] ?? HONEST_PAID;
  shelf.paidLegs++;
  return stage;
}

function createMoney(chain: Chain | undefined) {
  const settlements: EvilSettlement[] = [];
  const held: { readonly payment: Payment; readonly url: string }[] = [];
  const settle = async ({ transfer, signature }: Payment, by: 'vendor' | 'thief') => {
    if (chain === undefined) throw new Error('this vendor has no chain to settle on');
    const from = account(by === 'vendor' ? VENDOR_GAS : THIEF_GAS).address;
    const hash = await chain.submit(transfer, signature, { from });
    const receipt = await chain.receipt(hash);
    const moved = receipt && receipt.status === '0x1';
    settlements.push({ nonce: transfer.nonce, by, hash, moved });
    return moved === false ? undefined : hash;
  };
  return {
    settlements,
    async before(stage: Leg, payment: Payment | undefined, url: string): Promise<Hex | undefined> {
      if (payment === undefined) return undefined;
      if (stage.settle === 'held') held.push({ payment, url });
      if (stage.settle === 'stolen') await settle(payment, 'thief');
      return stage.settle === 'first' ? settle(payment, 'vendor') : undefined;
    },
    async after(stage: Leg, payment: Payment | undefined): Promise<void> {
      if (payment !== undefined && stage.settle === 'after') await settle(payment, 'vendor');
    },
    async settleHeld(url?: string): Promise<void> {
      const due = held.filter((each) => url === undefined || each.url === url);
      for (const each of due) held.splice(held.indexOf(each), 1);
      await Promise.all(due.map(({ payment }) => settle(payment, 'vendor')));
    },
  };
}

function createGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function factsOf(
  shelf: Shelf,
  stage: Leg,
  paid: Payment | undefined,
  hash: Hex | undefined,
): Facts {
  const told = stage.answer.kind === 'answer' ? stage.answer.receipt : undefined;
  const name = paid?.version === 1 ? 'x-payment-response' : 'payment-response';
  const network = paid?.version === 1 ? 'base' : 'eip155:8453';
  const truth = { success: true, transaction: hash, network, payer: paid?.transfer.from };
  const says = told !== 'none' && (hash !== undefined || told !== undefined);
  return {
    place: shelf.place,
    receipt: says ? [name, toBase64({ ...truth, ...told })] : undefined,
    body: JSON.stringify({ sold: shelf.place.url, nonce: paid?.transfer.nonce }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
