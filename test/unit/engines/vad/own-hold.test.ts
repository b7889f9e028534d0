import { expect, test } from 'vitest';
import { settleOwn } from '../../../../src/engines/vad/own-hold.ts';

const FACTS = { agentName: 'scout', spendableRaw: 50n, heldRaw: 30n, spentRaw: 7n };

test.each([
  ['gives back what is left of it', { heldRaw: 20n, spentRaw: 5n }, [65n, 10n, 12n]],
  ['takes what was spent beyond it', { heldRaw: 20n, spentRaw: 25n }, [45n, 10n, 32n]],
  ['tells of no debt', { heldRaw: 20n, spentRaw: 99n }, [0n, 10n, 77n]],
  ['gives back no more than is held', { heldRaw: 40n, spentRaw: 0n }, [80n, 0n, 7n]],
])('a balance question to the guide settles its own hold and %s', (_, own, expected) => {
  const { spendableRaw, heldRaw, spentRaw } = settleOwn(FACTS, own);
  expect([spendableRaw, heldRaw, spentRaw]).toEqual(expected);
});
