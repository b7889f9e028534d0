import { describe, expect, it } from 'vitest';
import { REALTIME_LIMITS } from '../../../../../src/protocols/openai-realtime/limits.ts';
import { OpenTurns } from '../../../../../src/protocols/openai-realtime/relay/metered-turns.ts';
import { VOICE_LIMITS } from '../../../../../src/voice/limits.ts';

describe('the turns of a relayed session', () => {
  it('OpenTurns ends each turn once, whether its beginning was reported or not, and does not reopen it', () => {
    const turns = new OpenTurns();
    expect([turns.begin('a'), turns.begin('a'), turns.size]).toEqual([true, true, 1]);
    expect([turns.end('a'), turns.end('a'), turns.size]).toEqual([true, false, 0]);
    expect([turns.begin('a'), turns.size]).toEqual([true, 0]);
    expect([turns.end('b'), turns.end('b')]).toEqual([true, false]);
  });

  it('OpenTurns counts turns without ids, and ends each of them', () => {
    const turns = new OpenTurns();
    turns.begin(null);
    turns.begin(null);
    expect([turns.size, turns.end(null), turns.end(null), turns.end(null)]).toEqual([
      2,
      true,
      true,
      true,
    ]);
    expect(turns.size).toBe(0);
  });

  it('OpenTurns limits the turns that a session may have open', () => {
    const turns = new OpenTurns();
    for (let n = 0; n < VOICE_LIMITS.relay.responses; n++) expect(turns.begin(`r${n}`)).toBe(true);
    expect(turns.begin('one more')).toBe(false);
  });

  it('OpenTurns forgets ended turns after a while, the oldest first', () => {
    const turns = new OpenTurns();
    for (let n = 0; n <= REALTIME_LIMITS.knownTurns; n++) turns.end(`r${n}`);
    expect([turns.end(`r${REALTIME_LIMITS.knownTurns}`), turns.end('r0')]).toEqual([false, true]);
  });
});
