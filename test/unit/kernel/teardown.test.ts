import { describe, expect, it } from 'vitest';
import { Teardown } from '../../../src/kernel/teardown.ts';

describe('Teardown', () => {
  it('Teardown runs its steps in reverse order, once, however often it is disposed', async () => {
    const order: string[] = [];
    const teardown = new Teardown();
    teardown.defer('database', () => void order.push('database'));
    teardown.defer('server', async () => void order.push('server'));
    await Promise.all([teardown[Symbol.asyncDispose](), teardown[Symbol.asyncDispose]()]);
    expect(order).toEqual(['server', 'database']);
  });

  it('Teardown goes on after a step that fails, and throws the failure at the end', async () => {
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
