import { describe, expect, it } from 'vitest';
import { isMailAddress } from '../../../../src/platform/mail/mail-address.ts';

describe('isMailAddress', () => {
  it('isMailAddress takes plain addresses of every usual form', () => {
    for (const address of [
      'a@example.com',
      'first.last+tag@mail.example.co.uk',
      "o'hara_99@xn--mller-kva.example",
      `${'l'.repeat(64)}@example.com`,
    ]) {
      expect([address, isMailAddress(address)]).toEqual([address, true]);
    }
  });

  it('isMailAddress refuses whatever could add a header, a recipient or an unreadable address', () => {
    for (const address of [
      '',
      '@',
      'a',
      'a@',
      '@example.com',
      'a@example',
      'a@example.',
      'a@.example.com',
      'a@-example.com',
      'a@example-.com',
      'a@example.c_m',
      'a@1.2.3.4',
      '.a@example.com',
      'a.@example.com',
      'a..b@example.com',
      'a@b@example.com',
      'a b@example.com',
      'a@example.com,b@example.com',
      'a@example.com;b@example.com',
      '<a@example.com>',
      '"a"@example.com',
      'a@example.com\n',
      'a@example.com\r\nbcc: b@example.com',
      'a\t@example.com',
      'a\0@example.com',
      'ä@example.com',
      `${'l'.repeat(65)}@example.com`,
      `a@${'l'.repeat(64)}.com`,
      `a@${'label.'.repeat(50)}com`,
    ]) {
      expect([address, isMailAddress(address)]).toEqual([address, false]);
    }
  });
});
