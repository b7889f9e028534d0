import { decodeFunctionData, encodeFunctionResult, multicall3Abi } from 'viem';
import { type EthCall, RpcReverted, RpcUnavailable } from '../../../src/platform/chain/rpc.ts';
import { blockAnswer, word } from './json-rpc-node.ts';

/** Address of the multicall contract on nearly every chain. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';
export const FEEDS = { price: `0x${'aa'.repeat(20)}`, sequencer: `0x${'bb'.repeat(20)}` };
export const CHAIN_ID = 8_453;

type RoundWords = readonly [id: bigint, answer: bigint, startedAt: number, updatedAt: number];

const roundAnswer = ([id, answer, startedAt, updatedAt]: RoundWords) =>
  `0x${[id, BigInt.asUintN(256, answer), BigInt(startedAt), BigInt(updatedAt), id]
    .map((value) => word(value).slice(2))
    .join('')}`;

/** A chain with both feeds, which says and lacks what the test wants. */
export function feedsChain(nowSec: number) {
  const state = {
    headSec: nowSec,
    chainId: CHAIN_ID,
    away: false,
    multicall: true,
    decimals: 8,
    price: [9n, 3_000_00000000n, nowSec - 60, nowSec - 60] as RoundWords,
    previous: [8n, 2_900_00000000n, nowSec - 900, nowSec - 900] as RoundWords | undefined,
    sequencer: [2n, 0n, nowSec - 90_000, nowSec - 90_000] as RoundWords | undefined,
    /** Instead of what the price feed would say. */
    priceAnswer: undefined as string | undefined,
    asked: [] as string[],
  };
  const answer = ({ to, data }: { to: string; data: string }): string | undefined => {
    const { price, previous, sequencer } = state;
    if (to === FEEDS.sequencer) return sequencer && roundAnswer(sequencer);
    if (data === '0x313ce567') return word(state.decimals);
    if (data === '0xfeaf968c') return state.priceAnswer ?? roundAnswer(price);
    const asked = BigInt(`0x${data.slice(10)}`);
    return previous && asked === previous[0] ? roundAnswer(previous) : undefined;
  };
  const present = () => {
    if (state.away) throw new RpcUnavailable('away');
  };
  return {
    state,
    rpc: {
      async chainId() {
        present();
        return state.chainId;
      },
      async head() {
        present();
        const { number: _, timestamp: __, ...rest } = blockAnswer(5);
        return { number: 5, hash: rest.hash, timestampSec: state.headSec };
      },
      async call({ to = '', data }: EthCall, at?: { hash: string }) {
        present();
        state.asked.push(data.slice(0, 10));
        if (at?.hash !== blockAnswer(5).hash) throw new RpcUnavailable('header not found');
        if (to !== MULTICALL3) {
          const own = answer({ to, data });
          if (own === undefined) throw new RpcReverted('no data present');
          return own;
        }
        if (!state.multicall) return '0x';
        const { args } = decodeFunctionData({ abi: multicall3Abi, data });
        type Calls = readonly [readonly { target: string; callData: `0x${string}` }[]];
        const result = (args as Calls)[0].map(({ target, callData }) => {
          const own = answer({ to: target.toLowerCase(), data: callData });
          return { success: own !== undefined, returnData: (own ?? '0x') as `0x${string}` };
        });
        return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
      },
    },
  };
}
