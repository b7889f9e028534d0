import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCookie } from '../../../../src/http/auth/session-cookie.ts';
import { chooseProtocol } from '../../../../src/http/auth/socket-credential.ts';
import {
  checkHeaders,
  commonHeaders,
  preflightHeaders,
} from '../../../../src/http/pipeline/output-headers.ts';
import { requestErrors } from '../../../../src/http/route/errors.ts';
import { renderError } from '../../../../src/http/route/render-error.ts';
import {
  type SessionOptions,
  SocketSession,
} from '../../../../src/http/websocket/socket-session.ts';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { reservationErrors } from '../../../../src/x402/errors.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** The reason with which a socket is closed for a longer reason. */
function cutReason(reason: string): string {
  let told = '';
  const parts = { handler: { opened() {} }, line: { join() {} }, seat: { occupy() {} } };
  const options = { ...parts, clock: new ManualClock(), log: silentLog };
  const session = new SocketSession(options as unknown as SessionOptions);
  const socket = {
    end(_: number, text: string) {
      told = text;
    },
  };
  session.opened(socket as never);
  session.close(1000, reason);
  return told;
}

const exposed = (advisories: string[] = []) =>
  commonHeaders(advisories).find(([name]) => name === 'access-control-expose-headers')?.[1];

describe('response headers', () => {
  it('response headers with a line break, a control character or an invalid name are refused', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom('\r', '\n', '\0', '\x7f', '\x1b'),
        fc.string(),
        (before, bad, after) => {
          expect(() => checkHeaders({ 'x-a': before + bad + after })).toThrow();
          expect(() => checkHeaders({ [`x${bad}a`]: 'fine' })).toThrow();
        },
      ),
    );
    expect(() => checkHeaders({ 'x-note': 'tab\tand grüße' })).not.toThrow();
  });

  it('access-control-expose-headers lists a budget advisory header only when that advisory is enabled', () => {
    const name = 'x-svc-budget-advisory';
    expect(exposed()).not.toContain(name);
    expect(exposed([name])).toContain(name);
  });

  it('response headers never echo an invalid preflight header list', () => {
    const echoed = preflightHeaders(['GET'], 'x-a\r\nx-b: 1')['access-control-allow-headers'];
    expect(echoed).not.toContain('x-b');
  });
});

describe('a rendered failure', () => {
  it('a rendered failure shows no detail of a bug in either envelope', () => {
    for (const envelope of ['flat', 'openai'] as const) {
      const answer = renderError(new Error('password=hunter2'), envelope, () => silentLog);
      expect(answer.status).toBe(500);
      expect(String(answer.body)).not.toContain('hunter2');
      expect(String(answer.body)).toMatch(/Internal error|internal_error/);
    }
  });

  it('a rendered failure names a lost database connection as its cause, without the database’s address', () => {
    const lost = Object.assign(new Error('write CONNECTION_CLOSED db.internal:5432'), {
      code: 'CONNECTION_CLOSED',
    });
    const answer = renderError(lost, 'flat', () => silentLog);
    expect([answer.status, JSON.parse(String(answer.body)).error]).toEqual([
      503,
      'ledger_unavailable',
    ]);
    expect(String(answer.body)).not.toContain('db.internal');
    expect(String(answer.body)).toContain('may still be carried out');
    expect(String(answer.body)).not.toContain('idempotency');
  });

  it('a rendered failure treats a database that does not answer in time as unreachable', () => {
    const late = Object.assign(new Error('late'), { code: 'CALL_TIMEOUT' });
    expect(renderError(late, 'flat', () => silentLog).status).toBe(503);
  });

  it('a rendered refusal hides its cause, and may allow a retry', () => {
    const caused = new ApiError(502, 'upstream', { cause: new Error('secret host') });
    expect(String(renderError(caused, 'flat', () => silentLog).body)).not.toContain('secret');
    const draining = renderError(requestErrors.draining(), 'flat', () => silentLog);
    expect(draining.headers).toMatchObject({ 'x-should-retry': 'true', 'retry-after': '1' });
  });

  it('a rendered failure shows validation details as the message of the OpenAI envelope', () => {
    const detail = { path: ['messages', 0, 'role'], message: 'is missing', code: 'x' };
    const answer = renderError(requestErrors.invalid([detail]), 'openai', () => silentLog);
    expect(JSON.parse(String(answer.body)).error).toMatchObject({
      message: 'messages.0.role: is missing',
      code: 'invalid_request',
    });
  });

  it('a rendered failure repeats the payment to look up inside the OpenAI error, the only part that SDKs pass on', () => {
    const reservation = { nonce: '0xab', validBefore: 90 };
    const answer = renderError(
      reservationErrors.ambiguous('unknown', reservation),
      'openai',
      () => silentLog,
    );
    expect(JSON.parse(String(answer.body))).toMatchObject({ error: { reservation }, reservation });
  });
});

describe('cookies and sub-protocols', () => {
  it('the session cookie is found among other cookies, and not in a longer name', () => {
    expect(readCookie('a=1; svc_session=x.y.z ; b=2', 'svc_session')).toBe('x.y.z');
    expect(readCookie('my_svc_session=x; svc_sessions=y', 'svc_session')).toBeUndefined();
    expect(readCookie('svc_session=', 'svc_session')).toBeUndefined();
  });

  it('the sub-protocol is the server’s favourite of the offered ones, and never an unknown one', () => {
    const offered = (text: string) => new Map([['sec-websocket-protocol', text]]);
    expect(chooseProtocol(['b', 'a'], offered('a, b'))).toBe('b');
    expect(chooseProtocol(['a'], offered('svc_agentkey, other'))).toBeUndefined();
    expect(chooseProtocol(['a'], new Map())).toBeUndefined();
  });

  it('a close reason is cut at 123 bytes without splitting a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const reason = text.replaceAll('\ufffd', '');
        const cut = cutReason(reason);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(123);
        expect(Buffer.from(reason).subarray(0, Buffer.byteLength(cut)).toString()).toBe(cut);
        expect(cut).not.toContain('\ufffd');
      }),
    );
  });
});
