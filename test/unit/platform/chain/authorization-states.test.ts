import { decodeFunctionData, encodeFunctionResult, multicall3Abi, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { authorizationStates } from '../../../../src/platform/chain/authorization-states.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import { type EthCall, RpcReverted, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { MULTICALL3 } from '../../../support/fakes/feeds-chain.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const USDC = `0x${'11'.repeat(20)}`;
const WALLET = `0x${'ab'.repeat(20)}`;
const AT = { hash: word(77) };
const ABI = parseAbi(['function authorizationState(address,bytes32) view returns (bool)']);

const keys = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ wallet: WALLET, nonce: word(i) }));
/** What the tests' token holds true of a nonce. */
const isUsed = (nonce: string) => BigInt(nonce) % 3n === 0n;

type Token = (nonce: string) => string | undefined;

/** A chain whose token answers as the test says, with or without the multicall contract. */
function chainOf(
  token: Token = (nonce) => word(isUsed(nonce) ? 1 : 0),
  { multicall = true, mostCalls = Number.POSITIVE_INFINITY } = {},
) {
  const asked: { call: EthCall; at: { hash: string } | undefined }[] = [];
  const answer = (data: `0x${string}`) => {
    const { args } = decodeFunctionData({ abi: ABI, data });
    expect(args[0].toLowerCase()).toBe(WALLET);
    return token(args[1]);
  };
  return {
    asked,
    async call(call: EthCall, at?: { hash: string }) {
      asked.push({ call, at });
      if (call.to !== MULTICALL3) {
        const own = answer(call.data);
        if (own === undefined) throw new RpcReverted('no');
        return own;
      }
      if (!multicall) return '0x';
      const { args } = decodeFunctionData({ abi: multicall3Abi, data: call.data });
      const calls = (args as readonly [readonly { target: string; callData: `0x${string}` }[]])[0];
      if (calls.length > mostCalls) throw new RpcReverted('out of gas');
      const result = calls.map(({ target, callData }) => {
        expect(target).toBe(USDC);
        const own = answer(callData);
        return { success: own !== undefined, returnData: (own ?? '0x') as `0x${string}` };
      });
      return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
    },
  };
}

describe('the state of authorizations', () => {
  it('authorization states are read in the given order, hundreds in one call, all at the same block', async () => {
    const chain = chainOf();
    const asked = keys(CHAIN_LIMITS.multicall.calls * 2 + 1);
    const states = await authorizationStates(chain, USDC, AT, asked);
    expect(states).toEqual(asked.map(({ nonce }) => isUsed(nonce)));
    expect(chain.asked).toHaveLength(3);
    expect(chain.asked.every(({ at }) => at === AT)).toBe(true);
  });

  it('an authorization state is unknown, never false, where the token’s answer is empty or malformed', async () => {
    const odd = [undefined, '0x', '0x00', word(2), `0x${'f'.repeat(64)}`, `${word(0)}00`, word(0)];
    const states = await authorizationStates(
      chainOf((nonce) => odd[Number(nonce)]),
      USDC,
      AT,
      keys(odd.length),
    );
    expect(states).toEqual([...Array(odd.length - 1).fill(undefined), false]);
  });

  it('authorization states without a multicall contract are read singly, up to `singleStateReads`', async () => {
    const chain = chainOf(undefined, { multicall: false });
    const asked = keys(CHAIN_LIMITS.multicall.singleReads + 5);
    const states = await authorizationStates(chain, USDC, AT, asked);
    expect(states).toHaveLength(asked.length);
    asked.forEach(({ nonce }, i) => {
      expect(states[i]).toBe(i < CHAIN_LIMITS.multicall.singleReads ? isUsed(nonce) : undefined);
    });
    expect(chain.asked).toHaveLength(1 + CHAIN_LIMITS.multicall.singleReads);
    expect(chain.asked.every(({ at }) => at === AT)).toBe(true);
    const refusing = chainOf((nonce) => (nonce === word(1) ? undefined : word(0)), {
      multicall: false,
    });
    expect(await authorizationStates(refusing, USDC, AT, keys(3))).toEqual([
      false,
      undefined,
      false,
    ]);
  });

  it('authorization states are read in smaller groups where the node limits a call', async () => {
    const asked = keys(100);
    const states = await authorizationStates(
      chainOf(undefined, { mostCalls: 30 }),
      USDC,
      AT,
      asked,
    );
    expect(states).toEqual(asked.map(({ nonce }) => isUsed(nonce)));
    const nothing = await authorizationStates(
      chainOf(undefined, { mostCalls: 0 }),
      USDC,
      AT,
      asked,
    );
    expect(nothing).toEqual(asked.map(() => undefined));
  });

  it('reading authorization states fails as a whole when the node cannot read the block', async () => {
    const away = {
      async call(): Promise<string> {
        throw new RpcUnavailable('header not found');
      },
    };
    await expect(authorizationStates(away, USDC, AT, keys(3))).rejects.toThrow(RpcUnavailable);
    const junk = { call: async () => word(32) };
    await expect(authorizationStates(junk, USDC, AT, keys(3))).rejects.toThrow(RpcUnavailable);
  });

  it('reading the states of no authorizations sends no request', async () => {
    const chain = chainOf();
    expect(await authorizationStates(chain, USDC, AT, [])).toEqual([]);
    expect(chain.asked).toEqual([]);
  });
});
