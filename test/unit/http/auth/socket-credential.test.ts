import { describe, expect, it } from 'vitest';
import { socketCredential } from '../../../../src/http/auth/socket-credential.ts';

const AGENT = { kind: 'agent_key', key: 'svc_1' };
const present = (headers: Record<string, string>, acceptsTokenScheme?: boolean) =>
  socketCredential(
    {
      authenticateFrom: ['bearer', 'subprotocol'],
      protocols: ['token', 'bearer', 'svc-stt'],
      ...(acceptsTokenScheme !== undefined && { acceptsTokenScheme }),
    },
    new Map(Object.entries(headers)),
    {},
  );

describe('the credential of a socket', () => {
  it.each(['Token svc_1', 'token  svc_1', 'Bearer svc_1'])(
    'a socket that allows the Token scheme takes "%s"',
    (text) => {
      expect(present({ authorization: text }, true)).toEqual(AGENT);
    },
  );

  it('a socket takes the Token scheme only where its route allows it, and no other scheme but Bearer', () => {
    expect(present({ authorization: 'Token svc_1' })).toEqual({ kind: 'malformed' });
    expect(present({ authorization: 'Basic svc_1' }, true)).toEqual({ kind: 'malformed' });
    expect(present({ authorization: 'Token' }, true)).toEqual({ kind: 'malformed' });
  });

  it('a socket finds the key beside the word "token" among the sub-protocols', () => {
    expect(present({ 'sec-websocket-protocol': 'token, svc_1' }, true)).toEqual(AGENT);
    for (const offer of ['token', 'token, svc-stt', 'svc-stt, token', 'token, ']) {
      expect(present({ 'sec-websocket-protocol': offer }, true)).toEqual({ kind: 'nothing' });
    }
  });

  it('a socket treats any other text beside the word "token" as an unknown key', () => {
    const foreign = { kind: 'session', token: 'dg-of-another', via: 'bearer' };
    const offer = { 'sec-websocket-protocol': 'token, dg-of-another' };
    expect(present(offer, true)).toEqual(foreign);
    expect(present(offer)).toEqual({ kind: 'nothing' });
  });
});
