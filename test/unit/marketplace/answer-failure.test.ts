import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { refuseVendor } from '../../../src/marketplace/answer-failure.ts';
import { MARKETPLACE_LIMITS } from '../../../src/marketplace/limits.ts';
import { VendorRefused } from '../../../src/marketplace/vendor.ts';
import { VendorFailed, VendorGaveUp } from '../../../src/models/providers/vendors/vendor-api.ts';
import { X402_LIMITS } from '../../../src/x402/limits.ts';

const KEY = 'secret-of-the-operator';
const accounts = new Map([['v', { baseUrl: 'http://v', credentials: [KEY], opens: () => ({}) }]]);
const told = (error: unknown) => refuseVendor({ accounts, log: silentLog }, 'v', error);
const textOf = ({ body }: { readonly body: Uint8Array }) => Buffer.from(body).toString();

describe('a vendor that gave a file up', () => {
  it('a file that the vendor gave up is refused with 422 at no charge, with a shortened reason and without the operator’s key', () => {
    const answer = told(new VendorGaveUp(`could not: ${KEY} ${'x'.repeat(9_000)}`));
    expect(answer).toMatchObject({ status: 422, payment: 'passthrough', costRaw: 0n });
    const { error } = JSON.parse(textOf(answer));
    expect(error.message).toMatch(/^could not: \*\*\* x+$/);
    expect(error.message.length).toBeLessThanOrEqual(X402_LIMITS.reasonChars);
  });

  it('a vendor that timed out is an error of the vendor and not a refusal of the file', () => {
    expect(() => told(new VendorFailed('took too long'))).toThrow(ApiError);
  });
});

describe('a refusal that is relayed', () => {
  const most = MARKETPLACE_LIMITS.sale.refusalBytes;
  const relayed = (body: string) =>
    textOf(told(new VendorRefused({ status: 400, headers: {}, body: Buffer.from(body) })));
  const PIECE = KEY.slice(0, 6);

  it('a relayed vendor refusal is cut to the byte limit', () => {
    expect(relayed('a'.repeat(most + 5))).toBe('a'.repeat(most));
    expect(relayed('short')).toBe('short');
  });

  it('a relayed vendor refusal contains no part of the operator’s key, wherever the byte limit cuts the key', () => {
    for (let before = most - KEY.length - 1; before <= most; before++) {
      expect(relayed(`${'a'.repeat(before)}${KEY}b`), String(before)).not.toContain(PIECE);
    }
  });

  it('a relayed vendor refusal contains no part of the key when earlier masked keys shorten the text', () => {
    const body = `${`${KEY} `.repeat(50)}${'a'.repeat(most)}`;
    for (let at = most - 2; at < most + 2 * KEY.length; at++) {
      expect(relayed(`${body.slice(0, at)}${KEY}bb`), String(at)).not.toContain(PIECE);
    }
  });
});
