import { describe, expect, it } from 'vitest';
import { createAgentSlots } from '../../../../../src/models/providers/local/agent-slots.ts';

describe('the slots of agents', () => {
  it('each agent has a limited number of slots, and releasing a slot twice frees one', () => {
    const take = createAgentSlots(2);
    const first = take(1);
    expect([first, take(1), take(1)]).toEqual([
      expect.any(Function),
      expect.any(Function),
      undefined,
    ]);
    expect(take(2)).toBeTypeOf('function');
    first?.();
    first?.();
    expect([take(1), take(1)]).toEqual([expect.any(Function), undefined]);
  });
});
