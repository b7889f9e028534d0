import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import { type EthCall, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { createUsdcBalances } from '../../../../src/platform/chain/usdc-balances.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const USDC = `0x${'11'.repeat(20)}`;
const WALLET = `0x${'AB'.repeat(20)}`;

function setUp() {
  const clock = new ManualClock();
  const calls: EthCall[] = [];
  const node = { balance: 5n as bigint | undefined };
  const rpc = {
    async call(call: EthCall) {
      calls.push(call);
      if (node.balance === undefined) throw new RpcUnavailable('away');
      return `0x${node.balance.toString(16).padStart(64, '0')}`;
    },
  };
  const balances = createUsdcBalances({ rpc, usdc: USDC, clock, log: silentLog });
  return { clock, calls, node, balances };
}

describe('wallet balances', () => {
  it('a wallet’s USDC balance is read from the token once in `walletBalanceMs`', async () => {
    const { balances, calls, clock, node } = setUp();
    expect(await balances.read(WALLET)).toBe(5n);
    node.balance = 6n;
    expect(await balances.read(WALLET.toLowerCase())).toBe(5n);
    expect(calls).toEqual([{ to: USDC, data: `0x70a08231${'0'.repeat(24)}${'ab'.repeat(20)}` }]);
    clock.advance(CHAIN_LIMITS.balances.freshMs);
    expect(await balances.read(WALLET)).toBe(6n);
  });

  it('a wallet’s USDC balance is unknown while the node is away, once the last one is too old', async () => {
    const { balances, clock, node } = setUp();
    await balances.read(WALLET);
    node.balance = undefined;
    clock.advance(CHAIN_LIMITS.balances.freshMs - 1);
    expect(await balances.read(WALLET)).toBe(5n);
    clock.advance(1);
    expect(await balances.read(WALLET)).toBeNull();
  });

  it('a wallet’s last known USDC balance is returned while the node is away and read again afterwards', async () => {
    const { balances, clock, node } = setUp();
    await balances.read(WALLET);
    node.balance = undefined;
    clock.advance(CHAIN_LIMITS.balances.freshMs);
    expect(await balances.lastKnown(WALLET)).toBe(5n);
    expect(await balances.lastKnown(USDC)).toBeNull();
    node.balance = 6n;
    expect(await balances.lastKnown(WALLET)).toBe(6n);
  });

  it('a wallet’s USDC balance is unknown, not zero, where no chain is configured', async () => {
    const { clock } = setUp();
    const balances = createUsdcBalances({ rpc: undefined, usdc: USDC, clock, log: silentLog });
    expect(await balances.read(WALLET)).toBeNull();
    expect(await balances.lastKnown(WALLET)).toBeNull();
  });
});
