import { describe, expect, it } from 'vitest';
import type { Looked, Queue } from '../../../../src/memory/indexing/indexing-store.ts';
import { planClaims } from '../../../../src/memory/indexing/plan-claims.ts';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';

const { spacesPerLook } = MEMORY_LIMITS.indexing;

const due = (agentId: number, spaceIds: readonly number[], isDue = true): [number, Queue[]] => [
  agentId,
  spaceIds.map((spaceId) => ({ agentId, spaceId, isDue })),
];
const spaces = (queues: readonly Queue[]) => queues.map(({ spaceId }) => spaceId);
const full = Array.from({ length: spacesPerLook }, (_, n) => n + 1);

describe('namespaces to claim of', () => {
  it('claims take one namespace of each agent before a second one of any, and at most two of one agent', () => {
    const looked: Looked = new Map([due(1, full), due(2, [100]), due(3, [200, 201])]);
    const plan = planClaims(looked, { busy: new Map(), room: 8 });
    expect(spaces(plan.queues)).toEqual([1, 100, 200, 2, 201]);
    expect(plan.after).toBe(3);
    const tight = planClaims(looked, { busy: new Map(), room: 4 });
    expect(spaces(tight.queues)).toEqual([1, 100, 200, 2]);
    // The one that found no room comes next.
    expect(tight.places.get(3)).toBe(200);
  });

  it('claims count an agent’s namespaces that are being indexed, and take none of them again', () => {
    const looked: Looked = new Map([due(1, [1, 2, 3]), due(2, [4, 5, 6])]);
    const busy = new Map([
      [1, 1],
      [4, 2],
      [9, 2],
    ]);
    const plan = planClaims(looked, { busy, room: 8 });
    expect(spaces(plan.queues)).toEqual([2]);
    expect(plan.places.has(2)).toBe(false);
  });

  it('the claim scan continues behind namespaces that were not due, and starts over behind the last one', () => {
    const looked: Looked = new Map([due(1, full, false), due(2, [7, 8], false), due(3, [])]);
    const { after, places, queues } = planClaims(looked, { busy: new Map(), room: 8 });
    expect([queues, after]).toEqual([[], 3]);
    expect([...places]).toEqual([
      [1, spacesPerLook],
      [2, undefined],
      [3, undefined],
    ]);
  });

  it('the claim scan leaves agents without room for the next scan', () => {
    const looked: Looked = new Map([due(1, [1]), due(2, [2]), due(3, [3])]);
    const { after, queues } = planClaims(looked, { busy: new Map(), room: 2 });
    expect([spaces(queues), after]).toEqual([[1, 2], 2]);
  });
});
