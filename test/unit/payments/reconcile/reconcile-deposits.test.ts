import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import { type ReconcileDeps, reconcile } from '../../../../src/payments/reconcile/reconcile.ts';
import type { Rpc } from '../../../../src/platform/chain/rpc.ts';
import type { Block, ChainLog } from '../../../../src/platform/chain/rpc-answers.ts';
import { USDC_EVENTS } from '../../../../src/platform/chain/usdc.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const USDC = `0x${'cc'.repeat(20)}`;
const OURS = `0x${'a1'.repeat(20)}`;
const OTHER_OURS = `0x${'a2'.repeat(20)}`;
const STRANGER = `0x${'bb'.repeat(20)}`;
const topic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;

type Deposit = {
  readonly tx: number;
  readonly logIndex: number;
  readonly raw?: bigint;
  readonly from?: string;
  readonly to?: string;
};

/** A chain of one block, number 5, which holds these transfers. */
function chainOf(deposits: readonly Deposit[]): Rpc {
  const at: Block = { number: 5, hash: word(5), timestampSec: 1_000 };
  const logs = deposits.map(
    ({ tx, logIndex, raw = 10n, from = STRANGER, to = OURS }): ChainLog => ({
      ...{ address: USDC, data: word(Number(raw)), blockNumber: 5, blockHash: word(5) },
      topics: [USDC_EVENTS.transfer, topic(from), topic(to)],
      ...{ txHash: word(tx), logIndex },
    }),
  );
  const rpc: Partial<Rpc> = {
    head: async () => at,
    block: async (number) => (number === at.number ? at : undefined),
    logs: async () => logs,
  };
  return rpc as Rpc;
}

function setUp() {
  const ledger = createFakeLedger();
  const read = (deposits: readonly Deposit[]) => {
    const deps: ReconcileDeps = {
      view: { rpc: chainOf(deposits), usdc: USDC, confirmations: 0 },
      ...{ ledger, log: silentLog },
      ...{ reload: async () => undefined, eventsOf: async () => [] },
      ...{
        findLive: async () => [],
        findWatched: async () => [],
        findSettled: async () => [],
        findFirstWalletMs: async () => undefined,
        repayVanished: async () => 0,
        wasGivenBack: async () => false,
        findCredited: async () => new Map(),
        keepClaim: async () => {},
        clock: new ManualClock(),
        findByNonce: async () => undefined,
      },
      ...{ findOpenPayouts: async () => [], findPayout: async () => undefined },
      findWalletOwners: async () =>
        new Map([
          [OURS, 1],
          [OTHER_OURS, 2],
        ]),
    };
    return reconcile(deps, { number: 4, hash: word(4) });
  };
  const creditedTo = async (agentId: number) => (await ledger.funds(agentId))?.spendableRaw;
  return { ledger, read, creditedTo };
}

describe('USDC that comes into agent wallets', () => {
  it('is credited once, wherever a reorganisation puts its transaction', async () => {
    const { read, creditedTo } = setUp();
    expect(await read([{ tx: 1, logIndex: 7 }])).toMatchObject({ deposits: 1 });
    expect(await read([{ tx: 1, logIndex: 0 }])).toMatchObject({ deposits: 0 });
    expect(await creditedTo(1)).toBe(10n);
  });

  it('is credited as often as one transaction brings it, each wallet its own', async () => {
    const { read, creditedTo } = setUp();
    const deposits = [
      { tx: 1, logIndex: 0 },
      { tx: 1, logIndex: 1, to: OTHER_OURS },
      { tx: 1, logIndex: 2 },
      { tx: 2, logIndex: 3 },
    ];
    expect(await read(deposits)).toMatchObject({ deposits: 4 });
    expect(await read(deposits)).toMatchObject({ deposits: 0 });
    expect([await creditedTo(1), await creditedTo(2)]).toEqual([30n, 10n]);
  });

  it('is nothing where nothing moved', async () => {
    const { read, creditedTo } = setUp();
    const nothing = [
      { tx: 1, logIndex: 0, raw: 0n },
      { tx: 2, logIndex: 1, from: OURS },
    ];
    expect(await read(nothing)).toMatchObject({ deposits: 0 });
    expect(await creditedTo(1)).toBeUndefined();
  });
});
