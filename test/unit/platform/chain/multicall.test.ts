import fc from 'fast-check';
import { decodeFunctionData, encodeFunctionResult, multicall3Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { askAll, type ContractCall } from '../../../../src/platform/chain/multicall.ts';
import { type EthCall, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { MULTICALL3 } from '../../../support/fakes/feeds-chain.ts';

const bytes = fc
  .uint8Array({ maxLength: 200 })
  .map((some): `0x${string}` => `0x${Buffer.from(some).toString('hex')}`);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((some) => `0x${Buffer.from(some).toString('hex')}`);

const at = { hash: `0x${'1'.repeat(64)}` };
const question = { to: MULTICALL3, data: '0x12' } as const;

/** What `count` questions are told by a contract that answers this. */
const answersIn = (answer: string, count = 1) =>
  askAll({ call: async () => answer }, Array(count).fill(question), at);

/** The one call in which all questions are asked. */
async function callOf(asked: readonly ContractCall[]): Promise<EthCall> {
  const calls: EthCall[] = [];
  const call = async (made: EthCall) => {
    calls.push(made);
    return '0x';
  };
  await askAll({ call }, asked, at);
  expect(calls).toHaveLength(1);
  return calls[0] as EthCall;
}

describe('many calls in one', () => {
  it('a multicall is encoded as the contract’s ABI decodes it', async () => {
    const calls = fc.array(fc.record({ to: address, data: bytes }), { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(calls, async (asked) => {
        const { to: contract, data } = await callOf(asked);
        expect(contract).toBe(MULTICALL3);
        const { args } = decodeFunctionData({ abi: multicall3Abi, data });
        const read = (args as [{ target: string; allowFailure: boolean; callData: string }[]])[0];
        expect(
          read.map(({ target, allowFailure, callData }) => [
            target.toLowerCase(),
            allowFailure,
            callData,
          ]),
        ).toEqual(asked.map(({ to, data }) => [to, true, data]));
      }),
    );
  });

  it('a multicall’s results are decoded as the ABI encodes them, a failed call as undefined', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 9 }),
        async (results) => {
          const answer = encodeFunctionResult({
            abi: multicall3Abi,
            functionName: 'aggregate3',
            result: results,
          });
          expect(await answersIn(answer, results.length)).toEqual(
            results.map(({ success, returnData }) => (success ? returnData : undefined)),
          );
        },
      ),
    );
  });

  it('decoding a multicall never reads past the end of an answer with false lengths', async () => {
    const answer = encodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      result: [{ success: true, returnData: '0x1234' }],
    });
    const words = (answer.length - 2) / 64;
    for (let i = 0; i < words; i++) {
      const from = 2 + i * 64;
      for (const lie of ['f'.repeat(64), '7'.repeat(64), '3'.padStart(64, '0')]) {
        const told = answersIn(answer.slice(0, from) + lie + answer.slice(from + 64));
        const read = await told.catch((error: unknown) => {
          expect(error).toBeInstanceOf(RpcUnavailable);
          return [];
        });
        for (const one of read) expect((one ?? '').length).toBeLessThan(answer.length);
      }
      const cut = answersIn(answer.slice(0, from));
      if (i === 0) expect(await cut).toBe('absent');
      else await expect(cut).rejects.toThrow(RpcUnavailable);
    }
  });

  it('decoding a multicall costs no more than its length, also where all results share the same bytes', async () => {
    const word = (value: number) => value.toString(16).padStart(64, '0');
    const count = 500;
    const length = 480_000;
    const pointers = word(count * 32).repeat(count);
    const shared = `${word(1)}${word(64)}${word(length)}${'ab'.repeat(length)}`;
    const answer = `0x${word(32)}${word(count)}${pointers}${shared}`;
    const before = process.cpuUsage();
    expect(await answersIn(answer, count)).toHaveLength(count);
    const { system, user } = process.cpuUsage(before);
    expect((system + user) / 1_000).toBeLessThan(500);
  });

  it('a multicall reports a missing contract and refuses a result of another length', async () => {
    expect(await answersIn('0x')).toBe('absent');
    const none = encodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      result: [],
    });
    await expect(answersIn(none)).rejects.toThrow(RpcUnavailable);
  });
});
