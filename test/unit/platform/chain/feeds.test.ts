import { describe, expect, it } from 'vitest';
import { decodeRound, readFeeds } from '../../../../src/platform/chain/feeds.ts';
import { FEEDS, feedsChain } from '../../../support/fakes/feeds-chain.ts';
import { blockAnswer, word } from '../../../support/fakes/json-rpc-node.ts';

const NOW = 1_800_000_000;
const at = blockAnswer(5);

describe('the feeds', () => {
  it('the price and sequencer feeds are read at one block, with the price round before the latest', async () => {
    const { rpc, state } = feedsChain(NOW);
    expect(await readFeeds(rpc, FEEDS, at, undefined)).toEqual({
      price: {
        roundId: 9n,
        answer: 3_000_00000000n,
        startedAtSec: NOW - 60,
        updatedAtSec: NOW - 60,
      },
      previousAnswer: 2_900_00000000n,
      decimals: 8,
      sequencer: {
        roundId: 2n,
        answer: 0n,
        startedAtSec: NOW - 90_000,
        updatedAtSec: NOW - 90_000,
      },
    });
    expect(state.asked).toEqual(['0x82ad56cb', '0x9a6fc8f5']);
  });

  it('the feeds are read singly where the chain has no multicall contract', async () => {
    const { rpc, state } = feedsChain(NOW);
    const together = await readFeeds(rpc, FEEDS, at, undefined);
    state.multicall = false;
    expect(await readFeeds(rpc, FEEDS, at, undefined)).toEqual(together);
    state.sequencer = undefined;
    expect(await readFeeds(rpc, FEEDS, at, undefined)).toBe('sequencer');
  });

  it('the previous price round is read once per round', async () => {
    const { rpc, state } = feedsChain(NOW);
    const first = await readFeeds(rpc, FEEDS, at, undefined);
    if (typeof first === 'string') throw new Error(first);
    state.asked.length = 0;
    expect(await readFeeds(rpc, FEEDS, at, first)).toEqual(first);
    expect(state.asked).toEqual(['0x82ad56cb']);
    state.previous = [9n, 3_000_00000000n, NOW - 60, NOW - 60];
    state.price = [10n, 4_000_00000000n, NOW, NOW];
    expect(await readFeeds(rpc, FEEDS, at, first)).toMatchObject({
      price: { roundId: 10n },
      previousAnswer: 3_000_00000000n,
    });
  });

  it('a feed whose aggregator is new has no previous round', async () => {
    const { rpc, state } = feedsChain(NOW);
    state.price = [(7n << 64n) + 1n, 5n, NOW, NOW];
    const found = await readFeeds(rpc, FEEDS, at, undefined);
    expect(found).toMatchObject({ previousAnswer: undefined });
  });

  it('a feed that cannot be read is named', async () => {
    for (const answer of ['0x', word(1), `${word(1)}${'0'.repeat(64 * 4)}`, '0x12']) {
      const { rpc, state } = feedsChain(NOW);
      state.priceAnswer = answer;
      expect(await readFeeds(rpc, FEEDS, at, undefined), answer).toBe('price');
    }
    const many = feedsChain(NOW);
    many.state.decimals = 200;
    expect(await readFeeds(many.rpc, FEEDS, at, undefined)).toBe('price');
    const unknown = feedsChain(NOW);
    unknown.state.previous = undefined;
    expect(await readFeeds(unknown.rpc, FEEDS, at, undefined)).toBe('price');
    const silent = feedsChain(NOW);
    silent.state.sequencer = [2n, 0n, 0, NOW];
    expect(await readFeeds(silent.rpc, FEEDS, at, undefined)).toBe('sequencer');
  });
});

describe('a round', () => {
  const words = (...values: bigint[]) =>
    `0x${values.map((value) => word(BigInt.asUintN(256, value)).slice(2)).join('')}`;

  it('a feed’s round may have a negative answer', () => {
    expect(decodeRound(words(1n, -5n, 10n, 11n, 1n))).toEqual({
      roundId: 1n,
      answer: -5n,
      startedAtSec: 10,
      updatedAtSec: 11,
    });
  });

  it('a feed’s round without an answer, of another length or with impossible numbers is not decoded', () => {
    for (const wrong of [
      undefined,
      '0x',
      words(1n, 5n, 10n, 11n),
      words(1n, 5n, 10n, 11n, 1n, 1n),
      words(1n, 5n, 10n, 0n, 1n),
      words(1n, 5n, 0n, 11n, 1n),
      words(2n ** 80n, 5n, 10n, 11n, 1n),
      words(1n, 5n, 10n, 2n ** 200n, 1n),
    ]) {
      expect(decodeRound(wrong), wrong).toBeUndefined();
    }
  });
});
