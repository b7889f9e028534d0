import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import {
  type AuditRound,
  type AuditState,
  type Difference,
  floorOf,
  planLook,
  planRound,
  searchRange,
} from '../../../../src/payments/reconcile/wallet-audit.ts';

const { overlapBlocks, lagBlocks, blocks, looksBeforeAlarm } = PAYMENT_LIMITS.audit;
const MOST: number = blocks.most;

const stateOf = (round: Partial<AuditRound>, change: Partial<AuditState> = {}): AuditState => ({
  round: { fromBlock: 1_000, toBlock: 2_000, afterAgentId: null, ...round },
  isDue: false,
  rereadFrom: null,
  ...change,
});

const plan = (state: AuditState | undefined, at: number, most = MOST) =>
  planRound(state, { number: at }, most);

describe('a round over all wallets', () => {
  it('the first audit round starts `overlapBlocks` back and never before block 0', () => {
    expect(plan(undefined, 9_000)).toEqual({
      fromBlock: 9_000 - overlapBlocks,
      toBlock: 9_000,
      afterAgentId: 0,
    });
    expect(plan(undefined, 10)).toEqual({ fromBlock: 0, toBlock: 10, afterAgentId: 0 });
  });

  it('an audit round keeps its blocks until all wallets are done', () => {
    const { round } = stateOf({ afterAgentId: 500 });
    expect(plan(stateOf({ afterAgentId: 500 }), 9_000)).toEqual(round);
  });

  it('the next audit round starts when it is due and reads the last `overlapBlocks` again', () => {
    expect(plan(stateOf({}), 2_100)).toBeUndefined();
    expect(plan(stateOf({}, { isDue: true }), 2_100)).toEqual({
      fromBlock: 2_001 - overlapBlocks,
      toBlock: 2_100,
      afterAgentId: 0,
    });
  });

  it('the next audit round starts at once when it lags `lagBlocks`, with a bounded number of blocks', () => {
    const at = 2_001 + lagBlocks;
    expect(plan(stateOf({}), at - 1)).toBeUndefined();
    expect(plan(stateOf({}), at)).toMatchObject({ fromBlock: 2_001 - overlapBlocks });
    const next = plan(stateOf({}), 2_000 + 10 * MOST);
    expect(next?.toBlock).toBe(2_000 - overlapBlocks + MOST);
  });

  it('the next audit round starts at once from a block where something was missed', () => {
    expect(plan(stateOf({}, { rereadFrom: 700 }), 2_010)).toEqual({
      fromBlock: 700,
      toBlock: 2_010,
      afterAgentId: 0,
    });
    expect(plan(stateOf({}, { rereadFrom: 1_990 }), 2_010)).toMatchObject({
      fromBlock: 2_001 - overlapBlocks,
    });
  });

  it('an audit round starts again with fewer blocks where the node cannot return its range', () => {
    expect(plan(stateOf({ afterAgentId: 500 }), 9_000, 100)).toEqual({
      fromBlock: 1_000,
      toBlock: 1_099,
      afterAgentId: 0,
    });
  });

  it('an audit round starts again where its blocks are beyond the chain', () => {
    // By a node that told of more blocks than there were.
    for (const afterAgentId of [null, 500]) {
      const state = stateOf({ fromBlock: 8_000, toBlock: 9_000, afterAgentId });
      expect(plan(state, 2_000)).toEqual({
        fromBlock: 2_000 - overlapBlocks,
        toBlock: 2_000,
        afterAgentId: 0,
      });
    }
    expect(plan(stateOf({ fromBlock: 500, toBlock: 9_000 }), 2_000)?.fromBlock).toBe(500);
  });

  it('audit rounds reach the end of the chain even with the smallest range', () => {
    const most = blocks.least;
    let state: AuditState | undefined;
    for (let i = 0; i < 1_000; i++) {
      const round: AuditRound | undefined = plan(state, 3_000, most);
      if (round === undefined) break;
      state = { ...stateOf({}), round: { ...round, afterAgentId: null } };
      if (i === 0) state = { ...state, rereadFrom: 1_000 };
    }
    expect(state?.round.toBlock).toBeGreaterThanOrEqual(3_000 - lagBlocks);
  });
});

describe('the search for the reason of a difference', () => {
  const difference = (change: Partial<Difference> = {}): Difference => ({
    agentId: 1,
    wallet: '0xa',
    walletRaw: 0n,
    createdMs: 0,
    differenceRaw: 5n,
    floorBlock: 1_000,
    searchedFrom: null,
    looks: 0,
    passes: 0,
    toldRaw: null,
    ...change,
  });

  it('the search for a wallet’s difference goes back from the newest block to the wallet’s first possible one', () => {
    const at = { number: 1_000 + 2 * MOST };
    const first = searchRange(difference(), at, MOST);
    expect(first).toEqual({ fromBlock: 1_001 + MOST, toBlock: at.number });
    const second = searchRange(difference({ searchedFrom: first.fromBlock }), at, MOST);
    expect(second).toEqual({ fromBlock: 1_001, toBlock: 1_000 + MOST });
    const third = searchRange(difference({ searchedFrom: second.fromBlock }), at, MOST);
    expect(third).toEqual({ fromBlock: 1_000, toBlock: 1_000 });
  });

  it('the search for a wallet’s difference stays within the chain wherever it was before', () => {
    const at = { number: 2_000 };
    expect(searchRange(difference({ searchedFrom: 9_000 }), at, MOST)).toEqual({
      fromBlock: 1_000,
      toBlock: 2_000,
    });
  });

  it('the search for a wallet’s difference raises one alarm per amount after `looksBeforeAlarm` and goes on', () => {
    let now = difference();
    const look = (isFound: boolean) => {
      const looked = planLook(now, { fromBlock: 5_000, isFound });
      now = { ...now, ...looked };
      return looked;
    };
    for (let i = 1; i < looksBeforeAlarm; i++) {
      expect(look(false)).toMatchObject({ toldRaw: null, looks: i, afterMs: 0 });
    }
    expect(look(false)).toMatchObject({ toldRaw: 5n, searchedFrom: 5_000, afterMs: 0 });
    // What was found is in the book before the next look, so that the count begins anew.
    expect(look(true)).toMatchObject({ toldRaw: 5n, looks: 0, afterMs: 0 });
  });

  it('a search for a wallet’s difference that found nothing pauses, longer each time up to `retryMaxMs`', () => {
    const { retryFirstMs, retryMaxMs } = PAYMENT_LIMITS.audit;
    const whole = { fromBlock: 1_000, isFound: false };
    const tired = difference({ looks: looksBeforeAlarm });
    expect(planLook(difference(), whole)).toMatchObject({ searchedFrom: null, afterMs: 0 });
    expect(planLook(tired, whole)).toMatchObject({ passes: 1, afterMs: retryFirstMs });
    expect(planLook({ ...tired, passes: 1 }, whole)).toMatchObject({ afterMs: 2 * retryFirstMs });
    expect(planLook({ ...tired, passes: 1_000_000 }, whole)).toMatchObject({ afterMs: retryMaxMs });
  });

  it('a wallet’s first possible block is bounded, whatever the chain’s clock says', () => {
    const at = { number: 2_000_000, hash: '0x', timestampSec: 1_800_000_000 };
    const made = (secondsAgo: number) => ({ createdMs: (at.timestampSec - secondsAgo) * 1_000 });
    const { clockMarginBlocks } = PAYMENT_LIMITS.audit;
    expect(floorOf(made(10_000), at)).toBe(at.number - 10_000 - clockMarginBlocks);
    expect(floorOf(made(-100_000), at)).toBe(at.number - clockMarginBlocks);
    expect(floorOf(made(1e9), at)).toBe(at.number - PAYMENT_LIMITS.chain.firstReadBlocks);
    expect(floorOf(made(10_000), { ...at, number: 5 })).toBe(0);
  });
});
