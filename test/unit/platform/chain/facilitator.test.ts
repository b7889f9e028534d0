import {
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
} from 'viem';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createFacilitator } from '../../../../src/platform/chain/facilitator.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import { type EthCall, RpcReverted, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testWallet } from '../../../support/wallet.ts';

const USDC = `0x${'11'.repeat(20)}`;
const SIGNATURE = `0x${'5a'.repeat(65)}`;
const gasPayer = testWallet('facilitator');
const authorization = (nonce: number) => ({
  from: testWallet('payer').address,
  to: testWallet('payee').address,
  valueRaw: 10_000n,
  validAfter: 0 as const,
  validBefore: 1_795_247_090,
  nonce: word(nonce),
});

/** A chain that counts what it took, and says what the test wants it to say. */
function setUp() {
  const clock = new ManualClock();
  const chain = {
    taken: [] as ReturnType<typeof parseTransaction>[],
    raw: [] as `0x${string}`[],
    estimated: [] as EthCall[],
    counted: undefined as number | undefined,
    refuses: undefined as Error | undefined,
    refusesToRun: undefined as Error | undefined,
    maxFeeWei: 2_000n,
  };
  const rpc = {
    async estimateGas(call: EthCall) {
      chain.estimated.push(call);
      if (chain.refusesToRun) throw chain.refusesToRun;
      return 100_000n;
    },
    fees: async () => ({ maxFeeWei: chain.maxFeeWei, priorityFeeWei: 7n }),
    transactionCount: async () => chain.counted ?? chain.taken.length,
    async send(raw: string) {
      if (chain.refuses) throw chain.refuses;
      chain.raw.push(raw as `0x${string}`);
      chain.taken.push(parseTransaction(raw as `0x${string}`));
      return keccak256(raw as `0x${string}`);
    },
  };
  const { privateKey } = gasPayer;
  const facilitator = createFacilitator({
    rpc,
    privateKey,
    usdc: USDC,
    chainId: 8_453,
    clock,
    log: silentLog,
  });
  const submit = (nonce: number) => facilitator.submitTransfer(authorization(nonce), SIGNATURE);
  return { clock, chain, submit };
}

const numbers = (taken: readonly { nonce?: number | undefined }[]) =>
  taken.map(({ nonce }) => nonce ?? 0);

describe('the facilitator', () => {
  it('the facilitator sends the authorization to the token, signed with its own key and with its own gas', async () => {
    const { chain, submit } = setUp();
    const txHash = await submit(1);
    const [raw] = chain.raw;
    if (raw === undefined) throw new Error('nothing was sent');
    expect(txHash).toBe(keccak256(raw));
    expect(chain.taken[0]).toMatchObject({
      type: 'eip1559',
      chainId: 8_453,
      to: USDC,
      gas: 125_000n,
      maxFeePerGas: 2_000n,
      maxPriorityFeePerGas: 7n,
    });
    expect(chain.taken[0]?.value ?? 0n).toBe(0n);
    const signer = await recoverTransactionAddress({
      serializedTransaction: raw as `0x02${string}`,
    });
    expect(signer.toLowerCase()).toBe(gasPayer.address);
  });

  it('the facilitator encodes transferWithAuthorization as another library does', async () => {
    const { from, to, valueRaw, validAfter, validBefore, nonce } = authorization(7);
    const expected = encodeFunctionData({
      abi: parseAbi([
        'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
      ]),
      args: [
        from as `0x${string}`,
        to as `0x${string}`,
        valueRaw,
        BigInt(validAfter),
        BigInt(validBefore),
        nonce as `0x${string}`,
        SIGNATURE as `0x${string}`,
      ],
    });
    const { chain, submit } = setUp();
    await submit(7);
    expect(chain.taken[0]?.data).toBe(expected);
  });

  it('the facilitator numbers concurrent transactions without a gap or a duplicate', async () => {
    const { chain, submit } = setUp();
    await Promise.all([1, 2, 3, 4, 5].map(submit));
    expect(numbers(chain.taken)).toEqual([0, 1, 2, 3, 4]);
  });

  it('the facilitator leaves no nonce gap after a broadcast that was refused', async () => {
    const { chain, submit } = setUp();
    await submit(1);
    chain.refuses = new RpcUnavailable('the node could not be reached');
    await expect(submit(2)).rejects.toThrow(RpcUnavailable);
    chain.refuses = undefined;
    await Promise.all([submit(3), submit(4)]);
    expect(numbers(chain.taken)).toEqual([0, 1, 2]);
  });

  it('the facilitator counts its last transaction for `facilitatorNumberMs` where the node has not seen it', async () => {
    const { chain, clock, submit } = setUp();
    await submit(1);
    chain.counted = 0;
    await submit(2);
    expect(numbers(chain.taken)).toEqual([0, 1]);
    clock.advance(CHAIN_LIMITS.facilitator.numberMs);
    await submit(3);
    expect(numbers(chain.taken)).toEqual([0, 1, 0]);
  });

  it('the facilitator reuses the nonce of a transaction that the chain lost, while others are sent', async () => {
    const { clock, chain, submit } = setUp();
    await submit(0);
    chain.counted = 0;
    const stepMs = CHAIN_LIMITS.facilitator.numberMs / 3;
    for (let n = 1; n <= 3; n++) {
      await submit(n);
      clock.advance(stepMs);
    }
    await submit(4);
    expect(numbers(chain.taken)).toEqual([0, 1, 2, 3, 0]);
    // The chain has it now, and with it what waited behind.
    chain.counted = 4;
    await submit(5);
    expect(numbers(chain.taken).at(-1)).toBe(4);
  });

  it('the facilitator follows the chain’s nonce where another process has sent from the same account', async () => {
    const { chain, submit } = setUp();
    await submit(1);
    chain.counted = 9;
    await submit(2);
    expect(numbers(chain.taken)).toEqual([0, 9]);
  });

  it('the facilitator sends no transfer that the token refuses in the gas estimate', async () => {
    const { chain, submit } = setUp();
    chain.refusesToRun = new RpcReverted('FiatTokenV2: authorization is expired');
    await expect(submit(1)).rejects.toThrow(RpcReverted);
    expect(chain.taken).toEqual([]);
    expect(chain.estimated[0]?.from?.toLowerCase()).toBe(gasPayer.address);
  });

  it('the facilitator sends nothing above the gas price limit', async () => {
    const { chain, submit } = setUp();
    chain.maxFeeWei = CHAIN_LIMITS.facilitator.feeWei + 1n;
    await expect(submit(1)).rejects.toThrow(RpcUnavailable);
    chain.maxFeeWei = CHAIN_LIMITS.facilitator.feeWei;
    await submit(1);
    expect(chain.taken).toHaveLength(1);
  });

  it('the facilitator refuses transfers beyond `facilitatorWaiting` waiting ones', async () => {
    const { chain, submit } = setUp();
    const all = Array.from({ length: CHAIN_LIMITS.facilitator.waiting + 1 }, (_, i) => submit(i));
    const refused = await Promise.allSettled(all);
    expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(numbers(chain.taken)).toEqual(Array.from({ length: all.length - 1 }, (_, i) => i));
    await submit(1_000);
  });
});
