import { describe, expect, it } from 'vitest';
import { Teardown } from '../../../src/kernel/teardown.ts';

describe('Teardown', () => {
  it('ends what was begun last first, once, however often it is asked', async () => {
    const order: string[] = [];
    const teardown = new Teardown();
    teardown.defer('database', () => void order.push('database'));
    teardown.defer('server', async () => void order.push('server'));
    await Promise.all([teardown[Symbol.asyncDispose](), teardown[Symbol.asyncDispose]()]);
    expect(order).toEqual(['server', 'database']);
  });

  it('goes on past a step that fails, and tells of it at the end', async () => {
    const order: string[] = [];
    const teardown = new Teardown();
    teardown.defer('database', () => void order.push('database'));
    teardown.defer('engines', () => Promise.reject(new Error('stuck')));
    await expect(teardown[Symbol.asyncDispose]()).rejects.toMatchObject({
      errors: [expect.objectContaining({ message: 'engines did not end cleanly' })],
    });
    expect(order).toEqual(['database']);
  });
});
