import { describe, expect, it } from 'vitest';
import { readAttribution } from '../../../../src/models/purchase/attribution.ts';

describe('attribution headers', () => {
  it('attribution headers are trimmed and read in lower case', () => {
    const headers = new Map([
      ['x-svc-task-id', '  Invoice-7 '],
      ['x-svc-action-id', 'READ'],
      ['x-svc-customer-id', 'ACME'],
    ]);
    expect(readAttribution(headers)).toEqual({
      taskId: 'invoice-7',
      actionId: 'read',
      customerId: 'acme',
    });
  });

  it('attribution headers that are empty, over 128 characters or no plain text are ignored', () => {
    expect(readAttribution(new Map())).toEqual({});
    expect(readAttribution(new Map([['x-svc-task-id', '   ']]))).toEqual({});
    expect(readAttribution(new Map([['x-svc-task-id', 'a'.repeat(129)]]))).toEqual({});
    expect(readAttribution(new Map([['x-svc-task-id', 'a'.repeat(128)]])).taskId).toHaveLength(128);
    const odd = new Map([
      ['x-svc-task-id', 'gr\u00f6\u00dfe'],
      ['x-svc-action-id', 'a\tb'],
      ['x-svc-customer-id', 'acme'],
    ]);
    expect(readAttribution(odd)).toEqual({ customerId: 'acme' });
  });
});
