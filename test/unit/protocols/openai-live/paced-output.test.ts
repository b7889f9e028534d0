import { describe, expect, it } from 'vitest';
import { PacedOutput } from '../../../../src/protocols/openai-live/paced-output.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('PacedOutput', () => {
  it('PacedOutput knows how much of the sent speech has not been played', () => {
    const clock = new ManualClock();
    const output = new PacedOutput(clock);
    output.begin('a');
    output.sent(200);
    output.sent(200);
    expect(output.aheadMs).toBe(400);
    clock.advance(300);
    expect(output.aheadMs).toBe(100);
    clock.advance(1_000);
    expect(output.aheadMs).toBe(0);
    output.sent(200);
    expect(output.aheadMs).toBe(200);
  });

  it('PacedOutput counts all that was sent of the present message as heard', () => {
    const output = new PacedOutput(new ManualClock());
    expect(output.heard).toBeUndefined();
    output.begin('a');
    output.sent(200);
    output.begin('b');
    output.sent(100);
    output.sent(50);
    expect(output.heard).toEqual({ itemId: 'b', heardMs: 150 });
    output.end();
    expect(output.heard).toBeUndefined();
  });
});
