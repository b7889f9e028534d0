import { describe, expect, it } from 'vitest';
import { RecentMap } from '../../../src/kernel/recent-map.ts';

describe('a recent map', () => {
  it('a recent map drops its least recently used entry beyond its limit, and nothing before', () => {
    const map = new RecentMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect(map.get('b')).toBeUndefined();
    expect([map.get('a'), map.get('c')]).toEqual([1, 3]);
    map.set('a', 4);
    map.set('d', 5);
    expect([map.get('a'), map.get('c'), map.get('d')]).toEqual([4, undefined, 5]);
  });

  it('a recent map keeps its order when the newest entry is deleted, set again or used again and again', () => {
    const map = new RecentMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect([map.get('b'), map.get('b')]).toEqual([2, 2]);
    map.delete('b');
    map.set('b', 3);
    expect([...map]).toEqual([
      ['a', 1],
      ['b', 3],
    ]);
    map.set('c', 4);
    expect([map.size, ...[...map].map(([key]) => key)]).toEqual([2, 'b', 'c']);
    map.clear();
    map.set('c', 5);
    expect([...map]).toEqual([['c', 5]]);
  });
});
