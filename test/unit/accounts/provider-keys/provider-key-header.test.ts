import { describe, expect, it } from 'vitest';
import { readProviderKey } from '../../../../src/accounts/provider-keys/provider-key-header.ts';
import { renderError } from '../../../../src/http/route/render-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';

const read = (value?: string) =>
  readProviderKey(new Map(value === undefined ? [] : [['x-svc-provider-key', value]]));

describe('the header of a provider key', () => {
  it('the header of a provider key is read without surrounding blanks, and an absent header gives no key', () => {
    expect(read()).toBeUndefined();
    expect(read('sk-one')).toBe('sk-one');
    expect(read('  sk-one\t')).toBe('sk-one');
    expect(read('k'.repeat(512))).toHaveLength(512);
  });

  it('a malformed provider key header is refused 400 in the gateway’s envelope, without repeating the value', () => {
    for (const bad of ['', '   ', 'k'.repeat(513), 'sk-secret\u00e9', 'sk-secret\x7f']) {
      let thrown: unknown;
      try {
        read(bad);
      } catch (error) {
        thrown = error;
      }
      const { status, body } = renderError(thrown, 'openai', () => silentLog);
      expect(status, bad).toBe(400);
      expect(JSON.parse(String(body)).error).toMatchObject({
        type: 'invalid_request_error',
        code: 'invalid_request',
        param: 'x-svc-provider-key',
      });
      expect(String(body)).not.toContain('secret');
      expect(String(body)).not.toContain('kkkk');
    }
  });
});
