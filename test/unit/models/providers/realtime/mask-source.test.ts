import { expect, it } from 'vitest';
import { createMaskSource } from '../../../../../src/models/providers/realtime/socket-opener.ts';

it('the mask source makes random WebSocket masks that are never four zeros', () => {
  let drawn = 0;
  const next = createMaskSource({
    bytes: (length) => {
      drawn++;
      return new Uint8Array(length).fill(drawn === 1 ? 0 : 6);
    },
  });
  const mask = new Uint8Array(4);
  for (let n = 0; n < 1_024; n++) {
    next(mask);
    expect([...mask]).toEqual([0, 0, 0, 1]);
  }
  next(mask);
  expect([...mask]).toEqual([6, 6, 6, 7]);
  expect(drawn).toBe(2);
});
