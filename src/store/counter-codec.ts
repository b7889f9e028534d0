import { Packr } from 'msgpackr';
import type { Counter } from '../policy/counter.ts';

/** Amounts come back as they went in, whatever their size. */
const packr = new Packr({ useRecords: false, int64AsType: 'bigint' });

/** Policy, held, head, number of buckets, then place and amount of each bucket that is not empty. */
type Line = readonly [number, bigint, number, number, ...(number | bigint)[]];

/** Counters as they lie in an agent's row. */
export function packCounters(counters: readonly Counter[]): Buffer {
  return packr.pack(counters.map(lineOf));
}

export function unpackCounters(packed: Buffer | null): readonly Counter[] {
  return packed === null ? NONE : (packr.unpack(packed) as Line[]).map(counterOf);
}

const NONE: readonly Counter[] = [];

function lineOf({ policyId, heldRaw, head, buckets }: Counter): (number | bigint)[] {
  const line: (number | bigint)[] = [policyId, heldRaw, head, buckets.length];
  for (let place = 0; place < buckets.length; place++) {
    const amountRaw = buckets[place] as bigint;
    if (amountRaw !== 0n) line.push(place, amountRaw);
  }
  return line;
}

function counterOf([policyId, heldRaw, head, length, ...filled]: Line): Counter {
  const buckets = Array.from({ length }, () => 0n);
  let settledRaw = 0n;
  for (let i = 0; i < filled.length; i += 2) {
    const amountRaw = BigInt(filled[i + 1] ?? 0);
    buckets[Number(filled[i])] = amountRaw;
    settledRaw += amountRaw;
  }
  return { policyId, heldRaw: BigInt(heldRaw), head: Number(head), buckets, settledRaw };
}
