import { expect, it } from 'vitest';
import { type StoredTurn, summarize } from '../../../../src/phone/records/call-summary.ts';

const turn = (role: StoredTurn['role'], heard: string | null = null): StoredTurn => ({
  role,
  content: 'some words',
  heard,
  latency: null,
  at: new Date(0),
});
const said = turn('assistant');
const cut = turn('assistant', 'some');
const caller = turn('user');

it.each([
  ['no answer that was heard whole', [said, caller, said], 0],
  ['an answer that the caller spoke over', [cut, caller, said], 1],
  ['two of them', [cut, caller, cut, caller], 2],
  ['no answer over which the call was hung up', [said, caller, cut], 0],
  ['no answer that waited behind that one either', [cut, caller, cut, cut], 1],
  ['an answer that a key cut off', [cut, said], 1],
])('the interruptions in the summary of a call include %s', (_, turns, interruptions) => {
  expect(summarize(turns, []).interruptions).toBe(interruptions);
});
