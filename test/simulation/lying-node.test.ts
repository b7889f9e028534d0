import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../src/payments/limits.ts';
import type { Lie } from '../support/fakes/fake-chain.ts';
import { LyingWorld } from './lying-world.ts';
import { type Chance, seededChance, seedsToRun } from './seeded.ts';

/**
 * A node that lies for a while and tells the truth again: every deposit is credited once, every payment that moved is
 * taken, and every false word that moved money is an alarm.
 */

const AGENTS = 12;
const BLOCKS_A_TICK = 4;
const LIE_BLOCKS = 300;
/** Two rounds over all wallets, and the end of the last payment. */
const QUIET_BLOCKS = 400;

const RIGHT = {
  depositsMissing: 0,
  falseReleases: 0,
  falseCharges: 0,
  undecided: 0,
  walletsThatDiffer: 0,
  broken: [],
};

async function go(world: LyingWorld, blocks: number, busy = true): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await world.block({ busy });
    if (i % BLOCKS_A_TICK === 0) await world.tick();
  }
}

type LieOf = (head: number, chance: Chance) => Lie;

/** The books as the lie leaves them, and as they are once the node has told the truth for a while. */
async function run(seed: number, lieOf: LieOf, lieBlocks = LIE_BLOCKS, isCrowded = false) {
  const chance = seededChance(seed);
  const world = new LyingWorld(chance, AGENTS);
  world.isCrowded = isCrowded;
  await go(world, 200);
  world.chain.lie = lieOf(world.chain.head.number, chance);
  await go(world, lieBlocks);
  const left = world.wrong();
  world.chain.lie = undefined;
  // Another process reads on: the state of the second look lies in the database.
  world.restart();
  await go(world, 200);
  await go(world, QUIET_BLOCKS, false);
  return { world, left, seed: `seed ${seed}` };
}

/** A third of all logs, the same ones each time that they are asked for. */
const losing: LieOf = (_, chance) => {
  const lost = new Map<string, boolean>();
  const isLost = ({ txHash, logIndex }: { txHash: string; logIndex: number }): boolean => {
    const key = `${txHash}:${logIndex}`;
    const known = lost.get(key) ?? chance.oneIn(3);
    lost.set(key, known);
    return known;
  };
  return { kind: 'lost-logs', isLost };
};

describe('a node whose headers show that it has logs', () => {
  it.each<[string, Lie]>([
    ['none of them', { kind: 'no-logs' }],
    ['none of the newest six blocks', { kind: 'late-logs', by: 6 }],
  ])(
    'a node whose block headers show logs but that returns %s is not believed: the missing logs are waited for',
    async (_, lie) => {
      for (const of of seedsToRun(2)) {
        const { world, left, seed } = await run(of, () => lie, LIE_BLOCKS, true);
        expect(world.failedTicks, seed).toBeGreaterThan(LIE_BLOCKS / BLOCKS_A_TICK / 2);
        expect(left.falseReleases, seed).toBe(0);
        expect(world.wrong(), seed).toEqual(RIGHT);
        // What was not read was not missed.
        expect(world.alarms, seed).toEqual([]);
      }
    },
  );
});

describe('a node that leaves logs out', () => {
  it('deposits whose logs a node left out are found by comparing balances and credited once the node reports the logs', async () => {
    for (const of of seedsToRun(2)) {
      const { world, left, seed } = await run(of, losing);
      expect(left.depositsMissing, seed).toBeGreaterThan(0);
      expect(world.wrong(), seed).toEqual(RIGHT);
      expect(world.countOf('deposit_missed'), seed).toBeGreaterThan(left.depositsMissing / 2);
      // While it kept them, no log explained what the wallets held.
      expect(world.countOf('wallet_differs'), seed).toBeGreaterThan(0);
    }
  });
});

describe('a node that invents deposits', () => {
  it('invented deposits are never credited and raise an alarm, and real deposits are credited once the node stops lying', async () => {
    for (const of of seedsToRun(2)) {
      const world = new LyingWorld(seededChance(of), AGENTS);
      await go(world, 200);
      world.isInventing = true;
      await go(world, LIE_BLOCKS);
      expect(world.invented.length, `seed ${of}`).toBeGreaterThan(20);
      // No book ever says more than its wallet holds, but for payments that the chain has yet to show.
      expect(world.mostBeyondRaw, `seed ${of}`).toBe(0n);
      expect(world.countOf('deposit_not_held'), `seed ${of}`).toBeGreaterThan(AGENTS / 2);
      world.recant();
      world.restart();
      // Longer than the longest pause of a retry.
      await go(world, QUIET_BLOCKS + PAYMENT_LIMITS.audit.retryMaxMs / 2_000, false);
      expect(world.wrong(), `seed ${of}`).toEqual(RIGHT);
      expect([...world.awaited.rows], `seed ${of}`).toEqual([]);
    }
  });
});

describe('a node whose balances lag behind its logs', () => {
  it('deposits wait for a node whose balances lag behind its logs, and each deposit is credited once', async () => {
    for (const of of seedsToRun(2)) {
      const { world, seed } = await run(of, () => ({ kind: 'late-balances', by: 6 }));
      expect(world.countOf('deposit_not_held'), seed).toBeGreaterThan(5);
      expect(world.mostBeyondRaw, seed).toBe(0n);
      expect(world.wrong(), seed).toEqual(RIGHT);
      expect([...world.awaited.rows], seed).toEqual([]);
    }
  });
});

describe('a node that denies everything since some block', () => {
  it('false releases are debited and missed deposits credited, each with an alarm, after a node denied recent blocks', async () => {
    for (const of of seedsToRun(2)) {
      const { world, left, seed } = await run(of, (since) => ({ kind: 'blind', since }));
      expect(left.depositsMissing, seed).toBeGreaterThan(20);
      expect(left.falseReleases, seed).toBeGreaterThan(10);
      expect(world.wrong(), seed).toEqual(RIGHT);
      expect(world.countOf('moved_after_release'), seed).toBe(left.falseReleases);
      expect(world.countOf('deposit_missed'), seed).toBeGreaterThan(left.depositsMissing - 10);
    }
  });

  it('the books are corrected after a node denied blocks for longer than the audit rounds read again', async () => {
    const { world, left } = await run(7, (since) => ({ kind: 'blind', since }), 1_500);
    expect(left.depositsMissing).toBeGreaterThan(300);
    expect(world.wrong()).toEqual(RIGHT);
  });

  it('the books are corrected after a node reported blocks beyond the head of the chain', async () => {
    // Longer than the chain gets here: a process that waits for that block would never read again.
    const { world, left } = await run(5, () => ({ kind: 'ahead', by: 1_500 }), 40);
    expect(left.depositsMissing + left.falseReleases).toBeGreaterThan(0);
    expect(world.wrong()).toEqual(RIGHT);
  });

  it('the books are corrected after a node followed a branch of its own that undid earlier settlements', async () => {
    for (const of of seedsToRun(2)) {
      const { world, left, seed } = await run(of, (head) => ({ kind: 'forked', since: head - 40 }));
      // Settled before the branch, and given back because of it.
      expect(world.countOf('settlement_vanished'), seed).toBeGreaterThan(0);
      expect(left.walletsThatDiffer, seed).toBeGreaterThan(0);
      expect(world.wrong(), seed).toEqual(RIGHT);
    }
  });
});

describe('a wallet that something else takes money from', () => {
  it('money that leaves a wallet outside the ledger raises one alarm and changes no books', async () => {
    const world = new LyingWorld(seededChance(3), AGENTS);
    await go(world, 200);
    const [wallet, walletRaw] = world.richest();
    world.chain.transfer({ from: wallet, to: `0x${'ee'.repeat(20)}`, valueRaw: 1n });
    await go(world, QUIET_BLOCKS, false);
    expect(world.countOf('wallet_differs')).toBe(1);
    expect(world.richest()).toEqual([wallet, walletRaw]);
    expect(world.wrong()).toEqual({ ...RIGHT, walletsThatDiffer: 1 });
    // It comes back, and is no difference any more.
    world.chain.transfer({ from: `0x${'ee'.repeat(20)}`, to: wallet, valueRaw: 1n });
    await go(world, 20, false);
    expect(world.audits.differences.size).toBe(1);
  });
});
