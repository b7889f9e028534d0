import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import {
  type ChainView,
  createChainJudge,
  deepBlock,
  explain,
  judge,
  type Payment,
} from '../../../../src/payments/reconcile/judge-by-chain.ts';
import { RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { FakeChain, rpcOf, USDC } from '../../../support/fakes/fake-chain.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { letRun } from '../../../support/payment-book.ts';

const START_SEC = 1_800_000_000;
const WALLET = `0x${'a1'.repeat(20)}`;
const PAYEE = `0x${'b2'.repeat(20)}`;
/** Lapses 90 s after the first block. */
const PAYMENT: Payment = {
  wallet: WALLET,
  payee: PAYEE,
  nonce: word(7),
  valueRaw: 10_000n,
  validBefore: START_SEC + 90,
  reservedMs: START_SEC * 1_000,
};
const MOVED = { to: PAYEE, valueRaw: 10_000n };

function world(confirmations = 0) {
  const chain = new FakeChain(START_SEC);
  const view: ChainView = { rpc: rpcOf(chain), usdc: USDC, confirmations };
  const ask = (payment: Payment = PAYMENT) => judge(view, chain.head, payment);
  return { chain, view, ask };
}

describe('the block that is believed', () => {
  it('the confirmed block is the given depth below the head, and none on a shorter chain', async () => {
    const { chain, view } = world(3);
    chain.mine(2);
    expect(await deepBlock(view)).toBeUndefined();
    chain.mine();
    expect(await deepBlock(view)).toMatchObject({ number: 0 });
    chain.mine(5);
    expect(await deepBlock(view)).toMatchObject({ number: 5 });
  });

  it('the confirmed block is the head itself at depth 0', async () => {
    const { chain, view } = world(0);
    expect(await deepBlock(view)).toMatchObject(chain.head);
  });
});

describe('what one block says of a payment', () => {
  it('a payment is undecided before the block’s time reaches its validBefore', async () => {
    const { chain, ask } = world();
    chain.mine(1, 89);
    expect(await ask()).toEqual({ kind: 'undecided' });
  });

  it('a payment is void from the second on at which the token refuses it', async () => {
    const { chain, ask } = world();
    chain.mine(1, 90);
    expect(await ask()).toEqual({ kind: 'void' });
  });

  it('a payment is used where the log of its authorization is followed by the signed transfer', async () => {
    const { chain, ask } = world();
    chain.mine();
    const txHash = chain.use(PAYMENT, MOVED);
    expect(await ask()).toEqual({ kind: 'used', txHash });
    chain.mine(60);
    expect(await ask()).toEqual({ kind: 'used', txHash });
  });

  it('a payment’s state and time are judged at the same block, however far the head is', async () => {
    const { chain, view } = world();
    const early = chain.mine(1, 90);
    chain.mine();
    chain.use(PAYMENT, MOVED);
    expect(await judge(view, early, PAYMENT)).toEqual({ kind: 'void' });
    const late = { ...early, timestampSec: early.timestampSec - 1 };
    expect(await judge(view, late, PAYMENT)).toEqual({ kind: 'undecided' });
  });

  it('judging a payment at a block that a reorganisation replaced throws', async () => {
    const { chain, view } = world();
    const gone = chain.mine(1, 90);
    chain.reorganise(1);
    await expect(judge(view, gone, PAYMENT)).rejects.toThrow(RpcUnavailable);
  });

  it.each([
    ['to another payee', { to: WALLET, valueRaw: 10_000n }],
    ['of another amount', { to: PAYEE, valueRaw: 9_999n }],
    ['of nothing', undefined],
  ])(
    'a payment is undecided where its authorization was used for a transfer %s',
    async (_, moved) => {
      const { chain, ask } = world();
      chain.use(PAYMENT, moved);
      chain.mine(60);
      expect(await ask()).toEqual({ kind: 'undecided' });
    },
  );

  it('a payment is void where it was cancelled on chain before it lapses', async () => {
    const { chain, ask } = world();
    chain.cancel(PAYMENT);
    expect(await ask()).toEqual({ kind: 'void' });
  });

  it('a payment is undecided where its state is used and no log explains why', async () => {
    const { chain, ask } = world();
    chain.states.set(PAYMENT.nonce, true);
    chain.mine(60);
    expect(await ask()).toEqual({ kind: 'undecided' });
  });

  it('a payment is undecided where the token does not answer, however late it is', async () => {
    const { chain, ask } = world();
    chain.states.set(PAYMENT.nonce, undefined);
    chain.mine(1, 1_000);
    expect(await ask()).toEqual({ kind: 'undecided' });
  });

  it('logs of another nonce or another wallet decide nothing about a payment', async () => {
    const { chain, ask } = world();
    chain.states.set(PAYMENT.nonce, true);
    chain.use({ wallet: WALLET, nonce: word(8) }, MOVED);
    chain.cancel({ wallet: PAYEE, nonce: PAYMENT.nonce });
    chain.use({ wallet: PAYEE, nonce: PAYMENT.nonce }, MOVED);
    expect(await ask()).toEqual({ kind: 'undecided' });
  });
});

describe('the log behind a state', () => {
  it('the search for a payment’s log starts before its reservation and goes back at most `lookBackBlocks`', async () => {
    const { chain, view } = world();
    const txHash = chain.use(PAYMENT, MOVED);
    chain.mine(PAYMENT_LIMITS.chain.lookBackBlocks + 300);
    const { timestampSec, number } = chain.head;
    const ahead = { ...PAYMENT, reservedMs: (timestampSec + 30) * 1_000 };
    await explain(view, chain.head, ahead);
    const ago = { ...PAYMENT, reservedMs: 0 };
    expect(await explain(view, chain.head, ago)).toEqual({ kind: 'undecided' });
    const [near, far] = chain.queries.map(({ fromBlock }) => number - fromBlock);
    expect(near).toBeGreaterThan(0);
    expect(near).toBeLessThan(500);
    expect(far).toBe(PAYMENT_LIMITS.chain.lookBackBlocks);
    expect(txHash).toMatch(/^0x/);
  });
});

function court(chain: FakeChain | undefined, confirmations = 0) {
  const clock = new ManualClock();
  const view = chain && { rpc: rpcOf(chain), usdc: USDC, confirmations };
  const court = createChainJudge({ view, clock, log: silentLog });
  const seen: unknown[] = [];
  const wait = (withinMs: number) => {
    void court.wait(PAYMENT, withinMs).then((verdict) => seen.push(verdict));
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await letRun();
      clock.advance(500);
    }
    await letRun();
  };
  return { wait, pass, seen };
}

describe('waiting for the word of the chain', () => {
  it('waiting for the chain’s verdict ends at once where it is there', async () => {
    const chain = new FakeChain(START_SEC);
    const txHash = chain.use(PAYMENT, MOVED);
    const { wait, pass, seen } = court(chain);
    wait(20_000);
    await pass(0);
    expect(seen).toEqual([{ kind: 'used', txHash }]);
  });

  it('waiting for the chain’s verdict polls until a confirmed block has one', async () => {
    const chain = new FakeChain(START_SEC);
    const { wait, pass, seen } = court(chain, 2);
    wait(20_000);
    await pass(3_000);
    expect(seen).toEqual([]);
    chain.mine(1, 90);
    await pass(3_000);
    // One block deep is not deep enough yet.
    expect(seen).toEqual([]);
    chain.mine(2);
    await pass(PAYMENT_LIMITS.lateAnswer.pollMs);
    expect(seen).toEqual([{ kind: 'void' }]);
  });

  it('waiting for the chain’s verdict ends as undecided after the given time', async () => {
    const { wait, pass, seen } = court(new FakeChain(START_SEC));
    wait(5_000);
    await pass(4_000);
    expect(seen).toEqual([]);
    await pass(2_000);
    expect(seen).toEqual([{ kind: 'undecided' }]);
  });

  it('waiting for the chain’s verdict survives a failing node and ends once the node answers', async () => {
    const chain = new FakeChain(START_SEC);
    chain.mine(1, 90);
    chain.onAsk = () => Promise.reject(new RpcUnavailable('away'));
    const { wait, pass, seen } = court(chain);
    wait(10_000);
    await pass(4_000);
    expect(seen).toEqual([]);
    chain.onAsk = () => undefined;
    await pass(2_000);
    expect(seen).toEqual([{ kind: 'void' }]);
  });

  it('waiting for the chain’s verdict ends in time where the node never answers', async () => {
    const chain = new FakeChain(START_SEC);
    chain.onAsk = () => new Promise(() => {});
    const { wait, pass, seen } = court(chain);
    wait(5_000);
    await pass(6_000);
    expect(seen).toEqual([{ kind: 'undecided' }]);
  });

  it('waiting for the chain’s verdict ends as undecided where no chain is configured', async () => {
    const { wait, pass, seen } = court(undefined);
    wait(2_000);
    await pass(3_000);
    expect(seen).toEqual([{ kind: 'undecided' }]);
  });
});
