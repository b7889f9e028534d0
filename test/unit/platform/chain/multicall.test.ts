import fc from 'fast-check';
import { decodeFunctionData, encodeFunctionResult, multicall3Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import {
  askAll,
  decodeAnswers,
  encodeCalls,
  MULTICALL3,
} from '../../../../src/platform/chain/multicall.ts';
import { RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';

const bytes = fc
  .uint8Array({ maxLength: 200 })
  .map((some): `0x${string}` => `0x${Buffer.from(some).toString('hex')}`);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((some) => `0x${Buffer.from(some).toString('hex')}`);

describe('many calls in one', () => {
  it('a multicall is encoded as the contract’s ABI decodes it', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ to: address, data: bytes }), { maxLength: 9 }), (asked) => {
        const { args } = decodeFunctionData({ abi: multicall3Abi, data: encodeCalls(asked) });
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

  it('a multicall’s results are decoded as the ABI encodes them, a failed call as undefined', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 9 }),
        (results) => {
          const answer = encodeFunctionResult({
            abi: multicall3Abi,
            functionName: 'aggregate3',
            result: results,
          });
          expect(decodeAnswers(answer)).toEqual(
            results.map(({ success, returnData }) => (success ? returnData : undefined)),
          );
        },
      ),
    );
  });

  it('decoding a multicall never reads past the end of an answer with false lengths', () => {
    const answer = encodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      result: [{ success: true, returnData: '0x1234' }],
    });
    const words = (answer.length - 2) / 64;
    for (let i = 0; i < words; i++) {
      const at = 2 + i * 64;
      for (const lie of ['f'.repeat(64), '7'.repeat(64), '3'.padStart(64, '0')]) {
        const read = decodeAnswers(answer.slice(0, at) + lie + answer.slice(at + 64));
        for (const one of read ?? []) expect((one ?? '').length).toBeLessThan(answer.length);
      }
      expect(decodeAnswers(answer.slice(0, at))).toBeUndefined();
    }
  });

  it('decoding a multicall costs no more than its length, also where all results share the same bytes', () => {
    const word = (value: number) => value.toString(16).padStart(64, '0');
    const count = 500;
    const length = 480_000;
    const pointers = word(count * 32).repeat(count);
    const shared = `${word(1)}${word(64)}${word(length)}${'ab'.repeat(length)}`;
    const answer = `0x${word(32)}${word(count)}${pointers}${shared}`;
    const before = process.cpuUsage();
    expect(decodeAnswers(answer)).toHaveLength(count);
    const { system, user } = process.cpuUsage(before);
    expect((system + user) / 1_000).toBeLessThan(500);
  });

  it('a multicall reports a missing contract and refuses a result of another length', async () => {
    const at = { hash: `0x${'1'.repeat(64)}` };
    const question = { to: MULTICALL3, data: '0x12' } as const;
    expect(await askAll({ call: async () => '0x' }, [question], at)).toBe('absent');
    const none = encodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      result: [],
    });
    await expect(askAll({ call: async () => none }, [question], at)).rejects.toThrow(
      RpcUnavailable,
    );
  });
});
