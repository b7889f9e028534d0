import type { Counter } from '../../policy/counter.ts';

/*
 * Format of the counters in an agent's row: counters separated by semicolons, each `policy,held,head,number of buckets`,
 * followed by the index and the amount of every bucket that is not empty.
 */

/** Texts of bucket lists, cached while the lists stay the same: holding and releasing change no bucket. */
const spelled = new WeakMap<readonly bigint[], string>();

function bucketsText(buckets: readonly bigint[]): string {
  const known = spelled.get(buckets);
  if (known !== undefined) return known;
  let text = `${buckets.length}`;
  for (let place = 0; place < buckets.length; place++) {
    const amountRaw = buckets[place] as bigint;
    if (amountRaw !== 0n) text += `,${place},${amountRaw}`;
  }
  spelled.set(buckets, text);
  return text;
}

export function encodeCounters(counters: readonly Counter[]): string {
  let text = '';
  for (let i = 0; i < counters.length; i++) {
    const { policyId, heldRaw, head, buckets } = counters[i] as Counter;
    text += `${i === 0 ? '' : ';'}${policyId},${heldRaw},${head},${bucketsText(buckets)}`;
  }
  return text;
}

const NONE: readonly Counter[] = [];

export const decodeCounters = (text: string | null): readonly Counter[] =>
  text === null || text === '' ? NONE : text.split(';').map(counterOf);

function counterOf(line: string): Counter {
  const [policyId, heldRaw = '0', head, length, ...filled] = line.split(',');
  const buckets = Array.from({ length: Number(length) }, () => 0n);
  let settledRaw = 0n;
  for (let i = 0; i + 1 < filled.length; i += 2) {
    const amountRaw = BigInt(filled[i + 1] as string);
    buckets[Number(filled[i])] = amountRaw;
    settledRaw += amountRaw;
  }
  const names = { policyId: Number(policyId), head: Number(head) };
  return { ...names, heldRaw: BigInt(heldRaw), buckets, settledRaw };
}
