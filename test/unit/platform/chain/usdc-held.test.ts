import { describe, expect, it } from 'vitest';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import { RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { usdcHeld } from '../../../../src/platform/chain/usdc-held.ts';
import { FakeChain, rpcOf, USDC } from '../../../support/fakes/fake-chain.ts';

const walletOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
const STRANGER = `0x${'dd'.repeat(20)}`;

describe('what wallets hold', () => {
  it('the USDC of many wallets is read at one block, in the given order, hundreds in one call', async () => {
    const chain = new FakeChain(1_000);
    chain.transfer({ from: STRANGER, to: walletOf(2), valueRaw: 7n });
    const then = chain.head;
    chain.mine();
    chain.transfer({ from: STRANGER, to: walletOf(2), valueRaw: 100n });
    const wallets = Array.from({ length: CHAIN_LIMITS.multicall.calls + 1 }, (_, i) => walletOf(i));
    chain.asked.length = 0;
    const held = await usdcHeld(rpcOf(chain), USDC, then, wallets);
    expect(held).toEqual(wallets.map((_, i) => (i === 2 ? 7n : 0n)));
    expect(chain.asked).toEqual(['states at 0', 'states at 0']);
    expect(await usdcHeld(rpcOf(chain), USDC, chain.head, [walletOf(2)])).toEqual([107n]);
  });

  it('the USDC of a wallet is undefined where the token does not answer a number', async () => {
    for (const answer of ['0x', '0x01', `0x${'zz'.repeat(32)}`]) {
      const rpc = {
        call: async (call: { to?: string }) => (call.to === USDC ? answer : '0x'),
      };
      expect(await usdcHeld(rpc, USDC, { hash: '0x1' }, [STRANGER])).toEqual([undefined]);
    }
  });

  it('reading the USDC of wallets fails with the node and returns no partial result', async () => {
    const chain = new FakeChain(1_000);
    chain.onAsk = () => Promise.reject(new RpcUnavailable('away'));
    await expect(usdcHeld(rpcOf(chain), USDC, chain.head, [STRANGER])).rejects.toThrow('away');
  });
});
