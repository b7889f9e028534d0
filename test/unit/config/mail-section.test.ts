import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { ConfigError } from '../../../src/config/config-error.ts';

const FROM = 'team@example.com';

const mailOf = (environment: NodeJS.ProcessEnv) => {
  try {
    return readConfig(environment).mail;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

describe('MAIL_URL and MAIL_FROM', () => {
  it('MAIL_URL names the server, its usual port, TLS, and a percent-encoded user and password', () => {
    expect(mailOf({})).toBeUndefined();
    const url = 'smtps://team%40example.com:p%2Fw@mail.example.com';
    expect(mailOf({ MAIL_URL: url, MAIL_FROM: FROM })).toEqual({
      from: FROM,
      server: {
        host: 'mail.example.com',
        port: 465,
        isSecure: true,
        user: 'team@example.com',
        password: 'p/w',
      },
    });
    expect(mailOf({ MAIL_URL: 'smtp://[::1]', MAIL_FROM: FROM })).toMatchObject({
      server: { host: '::1', port: 587, isSecure: false, user: '', password: '' },
    });
    expect(mailOf({ MAIL_URL: 'smtp://127.0.0.1:2525', MAIL_FROM: FROM })).toMatchObject({
      server: { port: 2525 },
    });
  });

  it('MAIL_URL and MAIL_FROM are refused one without the other and malformed, and the error has no password', () => {
    const url = 'smtp://u:pass-word@mail.example.com';
    expect(mailOf({ MAIL_URL: url })).toBe('MAIL_FROM is required beside MAIL_URL');
    expect(mailOf({ MAIL_FROM: FROM })).toBe('MAIL_URL is required beside MAIL_FROM');
    for (const from of ['team', 'Team <team@example.com>', 'a@b.c, d@e.f', 'a@b\nc']) {
      expect(mailOf({ MAIL_URL: url, MAIL_FROM: from })).toContain('Invalid MAIL_FROM');
    }
    for (const wrong of ['https://u:pass-word@mail.example.com', 'mail.example.com', 'smtp://']) {
      const told = String(mailOf({ MAIL_URL: wrong, MAIL_FROM: FROM }));
      expect(told).toContain('Invalid MAIL_URL');
      expect(told).not.toContain('pass-word');
    }
    const broken = mailOf({ MAIL_URL: 'smtp://u:%ff@mail.example.com', MAIL_FROM: FROM });
    expect(broken).toContain('Invalid MAIL_URL');
  });
});
