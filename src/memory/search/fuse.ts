import type { Found } from '../index/space-query.ts';

/** Constant of reciprocal rank fusion: a smaller one weighs the first ranks more. 60 is usual (Cormack et al., 2009). */
const K = 60;

/**
 * Joins rankings by reciprocal rank: results that several rankings have near their top come first. A score of 1 means the first
 * place in every ranking. A single ranking keeps its own scores.
 */
export function fuse(rankings: readonly (readonly Found[])[]): Found[] {
  const [only, ...others] = rankings;
  if (only === undefined) return [];
  if (others.length === 0) return [...only];
  const scores = new Map<number, number>();
  const first = rankings.length / (K + 1);
  for (const ranking of rankings) {
    for (const [place, { id }] of ranking.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + 1 / (K + place + 1) / first);
    }
  }
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score || b.id - a.id);
}
