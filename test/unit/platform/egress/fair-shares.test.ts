import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Asker,
  FairShares,
  type GiveBack,
  OPERATOR,
  takeFairly,
} from '../../../../src/platform/egress/fair-shares.ts';
import { askerNamed } from '../../../support/guarded.ts';

const PLACES = 2_048;

function takeAll(shares: FairShares, asker: Asker, hasMoney: boolean): number {
  let taken = 0;
  while (shares.take(asker, hasMoney) !== undefined) taken++;
  return taken;
}

describe('shares of a number of places', () => {
  it('fair shares leave half of all slots to agents with money, however many have none', () => {
    const shares = new FairShares(PLACES);
    let taken = 0;
    for (let i = 0; i < 200; i++) taken += takeAll(shares, askerNamed(`free ${i}`), false);
    expect(taken).toBeLessThanOrEqual(PLACES / 2);
    expect(takeAll(shares, askerNamed('paying'), true)).toBe(384);
  });

  it('fair shares give an account with many agents no more than they leave to others', () => {
    const shares = new FairShares(PLACES);
    const counts = [];
    for (let i = 0; i < 9; i++)
      counts.push(takeAll(shares, askerNamed(`${i}`, false, 'one'), false));
    expect(counts.reduce((a, b) => a + b)).toBe(512);
    expect(counts[0]).toBe(384);
    expect(takeAll(shares, askerNamed('other'), false)).toBe(192);
  });

  it('fair shares leave one slot to an agent whose account has agents that take all they get', () => {
    const shares = new FairShares(PLACES);
    takeAll(shares, askerNamed('greedy', false, 'one'), false);
    expect(shares.take(askerNamed('modest', false, 'one'), false)).toBeDefined();
  });

  it('fair shares give this server every free slot', () => {
    const shares = new FairShares(8);
    const taken = Array.from({ length: 9 }, () => shares.take(OPERATOR, false));
    expect(taken.filter((place) => place !== undefined)).toHaveLength(8);
  });

  it('fair shares are complete again once every slot was given back, repeated returns included', () => {
    const moves = fc.array(fc.tuple(fc.nat(5), fc.nat(2), fc.boolean(), fc.boolean()));
    fc.assert(
      fc.property(moves, (steps) => {
        const shares = new FairShares(16);
        const held: GiveBack[] = [];
        for (const [agent, account, hasMoney, gives] of steps) {
          if (gives) held.pop()?.();
          const asker = askerNamed(`${agent} of ${account}`, hasMoney, `${account}`);
          const place = shares.take(asker, hasMoney);
          if (place !== undefined) held.push(place);
        }
        for (const giveBack of [...held, ...held]) giveBack();
        expect(shares.isIdle).toBe(true);
        expect(takeAll(shares, askerNamed('new'), true)).toBe(6);
      }),
    );
  });

  it('fair shares ask whether an agent has money only once the open half is used up', async () => {
    const shares = new FairShares(4);
    let asked = 0;
    const asker = {
      ...askerNamed('a'),
      hasMoney: async () => {
        asked++;
        return true;
      },
    };
    const take = () => takeFairly(asker, (hasMoney) => shares.take(asker, hasMoney));
    expect(await take()).toBeDefined();
    expect(asked).toBe(0);
    expect(await take()).toBeDefined();
    expect(asked).toBe(1);
    expect(await take()).toBeUndefined();
  });
});
