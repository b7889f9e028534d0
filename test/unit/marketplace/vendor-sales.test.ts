import { describe, expect, it } from 'vitest';
import { requestErrors } from '../../../src/http/route/errors.ts';
import { IDEMPOTENCY_LIMITS } from '../../../src/idempotency/limits.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createSeededRandom } from '../../../src/kernel/random.ts';
import { MARKETPLACE_LIMITS } from '../../../src/marketplace/limits.ts';
import { createMarketSlots } from '../../../src/marketplace/market-slots.ts';
import { soundOf } from '../../../src/marketplace/read-delivery.ts';
import type { Delivery, Vendor } from '../../../src/marketplace/vendor.ts';
import {
  createVendorSales,
  type SaleRequest,
  type VendorSalesDeps,
} from '../../../src/marketplace/vendor-sales.ts';
import { refusePayment } from '../../../src/payments/proxy/refuse-payment.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { askerNamed } from '../../support/guarded.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const PRICE = { usd: '10', per: 1_000_000, unit: 'character' } as const;

/** A shim with one vendor of speech, `acme`, which delivers what it is given. */
async function shop(deliver: () => Promise<Delivery>, more: Partial<VendorSalesDeps> = {}) {
  const ledger = createFakeLedger();
  for (const agentId of [1, 2, 3]) {
    await ledger.credit({ agentId, reference: `credit ${agentId}`, amountRaw: 1_000_000n });
  }
  const acme: Vendor = {
    name: 'acme',
    title: 'Acme',
    services: { tts: { plan: () => ({ price: PRICE, ask: deliver }) } },
  };
  const shim = createVendorSales({
    ledger,
    clock: new ManualClock(),
    random: createSeededRandom(Buffer.alloc(32)),
    log: silentLog,
    budgets: { left: async () => ({ remainingRaw: undefined, advisory: undefined }) },
    vendors: [acme],
    accounts: new Map(),
    findOwner: async () => undefined,
    tripwires: { eventsOf: async () => [] },
    rooms: createMarketSlots(),
    saleHealth: { watch: (_, ask) => ask() },
    fetch: () => Promise.reject(new Error('no network')),
    fetchSound: () => Promise.reject(new Error('no files')),
    fileCallerOf: () => ({ admitHost: async () => {}, asker: askerNamed('a') }),
    ...more,
  });
  const buy = (call: Partial<SaleRequest> = {}) =>
    shim.serve({
      service: 'tts',
      vendor: 'acme',
      body: { text: 'Hello.' },
      spender: { agentId: 1 },
      accountId: 'acct_1',
      workId: undefined,
      url: 'https://m.example/v1/tts/acme',
      host: 'm.example',
      signal: new AbortController().signal,
      refusalOfHold: refusePayment,
      ...call,
    });
  return { ledger, buy };
}

const sound = (bytes: number): Delivery => ({
  audio: Buffer.alloc(bytes),
  contentType: 'audio/mpeg',
});

/** Without the body, which a failed expectation would print. */
const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status;

/** In base64 it is longer than what is kept under a key. */
const LONG = Math.ceil((IDEMPOTENCY_LIMITS.answerBytes * 3) / 4);

describe('an order under an Idempotency-Key', () => {
  it.each([
    ['that can be kept is charged, though its client has left', 1_000, true, 63n],
    ['that cannot be kept is charged to a client that is there', LONG, false, 63n],
  ])('an order under an Idempotency-Key %s', async (_, bytes, leaves, chargedRaw) => {
    const leaving = new AbortController();
    const { buy, ledger } = await shop(async () => {
      if (leaves) leaving.abort();
      return sound(bytes);
    });
    const answer = await buy({ workId: 'work_1', signal: leaving.signal });
    expect([answer.status, answer.costRaw]).toEqual([200, chargedRaw]);
    expect([ledger.consumedRaw(1), ledger.openHolds()]).toEqual([chargedRaw, 0]);
  });

  it('an order under an Idempotency-Key costs nothing when its response is too large to store and its client has left', async () => {
    const leaving = new AbortController();
    const { buy, ledger } = await shop(async () => {
      leaving.abort();
      return sound(LONG);
    });
    const bought = buy({ workId: 'work_1', signal: leaving.signal });
    await expect(statusOf(bought)).rejects.toEqual(requestErrors.clientClosed());
    expect([ledger.consumedRaw(1), ledger.openHolds()]).toEqual([0n, 0]);
  });
});

describe('the memory of all calls', () => {
  const { answer, perAccount } = MARKETPLACE_LIMITS.sale.bytesInFlight;
  /** Sound so long is all that one account may have. */
  const WHOLE = Math.floor(perAccount / answer);

  it('an account’s limit of response bytes in memory refuses an order at no charge until a response is sent', async () => {
    const over: (() => void)[] = [];
    const size = { bytes: 1_000_000 };
    const { buy, ledger } = await shop(async () => sound(size.bytes));
    const onOver = (callback: () => void) => void over.push(callback);
    const kept = [await buy({ onOver })];
    const bodyBytes = kept[0]?.body.byteLength ?? 0;
    size.bytes = WHOLE - Math.ceil(bodyBytes / answer) + 1;
    const before = ledger.consumedRaw(1);
    await expect(statusOf(buy({ onOver }))).rejects.toMatchObject({
      status: 503,
      error: 'vendor_unavailable',
      headers: { 'x-should-retry': 'true' },
    });
    expect([ledger.consumedRaw(1), ledger.openHolds()]).toEqual([before, 0]);
    expect(over).toHaveLength(1);
    over[0]?.();
    expect((await buy()).status).toBe(200);
    // It was given back at once, as there is no word of its end.
    expect((await buy()).status).toBe(200);
  });

  it('a vendor’s response counts against the memory limit during its download, and a full limit costs nothing', async () => {
    const far: Vendor = {
      name: 'far',
      title: 'Far',
      account: { variables: [], baseUrl: null, opens: () => ({}) },
      services: {
        tts: {
          plan: () => ({
            price: PRICE,
            ask: async (door) => soundOf(await door.send({ method: 'GET', path: '/' })),
          }),
        },
      },
    };
    let bytes = WHOLE;
    const { buy, ledger } = await shop(async () => sound(1), {
      vendors: [far],
      accounts: new Map([
        ['far', { baseUrl: 'https://far.example', credentials: [], opens: () => ({}) }],
      ]),
      async fetch({ onBytes }) {
        onBytes?.(bytes);
        return { status: 200, headers: { 'content-type': 'audio/mpeg' }, body: Buffer.alloc(9) };
      },
    });
    expect((await buy({ vendor: 'far' })).status).toBe(200);
    bytes++;
    const charged = ledger.consumedRaw(1);
    await expect(statusOf(buy({ vendor: 'far' }))).rejects.toMatchObject({
      status: 503,
      error: 'vendor_unavailable',
    });
    expect([ledger.consumedRaw(1), ledger.openHolds()]).toEqual([charged, 0]);
  });
});
