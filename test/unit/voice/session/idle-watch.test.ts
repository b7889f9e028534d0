import { describe, expect, it } from 'vitest';
import { IdleWatch } from '../../../../src/voice/session/idle-watch.ts';
import { openSession, RATE } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';

async function answered(change: Record<string, unknown> = {}) {
  const session = await openSession();
  const turn_detection = { type: 'server_vad', idle_timeout_ms: 5_000, ...change };
  session.send({ type: 'session.update', session: { turn_detection } });
  await session.say('hello');
  return session;
}

const TIMEOUT = 'input_audio_buffer.timeout_triggered';

describe('a caller who is silent after an answer', () => {
  it('a caller who is silent after an answer is prompted once the answer was played and the timeout is over', async () => {
    const { engines, ledger, session, socket, speak } = await answered();
    // "You said hello. Is that so?" plays for 600 ms.
    await speak(silence(5_500, RATE));
    expect(socket.of(TIMEOUT)).toEqual([]);
    await speak(silence(200, RATE));
    const [timeout] = socket.of(TIMEOUT);
    expect(timeout).toMatchObject({ audio_start_ms: 600, audio_end_ms: 5_600 });
    expect(socket.of('input_audio_buffer.committed')[0]?.item_id).toBe(timeout?.item_id);
    expect(socket.of('response.done')).toHaveLength(2);
    expect(engines.guide.asked.at(-1)?.messages).toEqual([]);
    session.socketClosed();
    await session.settled;
    expect(ledger.charges[0]?.usage.audio_second).toBeUndefined();
  });

  it('a caller who only made a noise is prompted after the idle timeout since the noise', async () => {
    const { engines, socket, speak } = await answered();
    await speak(silence(3_000, RATE));
    engines.stt.pocketsphinx.script.push('');
    engines.stt.pocketsphinx.interim = () => '';
    await speak(tone(300, RATE));
    await speak(silence(5_500, RATE));
    expect(socket.of(TIMEOUT)).toEqual([]);
    await speak(silence(600, RATE));
    expect([socket.of(TIMEOUT).length, socket.of('response.done').length]).toEqual([1, 2]);
  });

  it('the idle timeout does not fire after speech or on a dead line, and prompts nobody under create_response: false', async () => {
    const speaking = await answered();
    await speaking.speak(silence(3_000, RATE));
    await speaking.speak(tone(3_000, RATE));
    expect(speaking.socket.of(TIMEOUT)).toEqual([]);

    const quiet = await answered({ create_response: false });
    await quiet.speak(silence(6_000, RATE));
    expect([quiet.socket.of(TIMEOUT).length, quiet.socket.of('response.done').length]).toEqual([
      1, 1,
    ]);

    const dead = await answered();
    dead.clock.advance(60_000);
    expect(dead.socket.of(TIMEOUT)).toEqual([]);
  });
});

describe('the wait for a caller', () => {
  it('the idle timeout restarts after a noise, from the end of the last noise or of the played answer', () => {
    const watch = new IdleWatch();
    watch.begin(9_000);
    watch.rest();
    watch.rest();
    expect(watch.isOn).toBe(false);
    watch.goOn(4_000);
    expect(watch.lapsed(13_999, 5_000)).toBeUndefined();
    watch.rest();
    watch.goOn(12_000);
    expect(watch.lapsed(17_000, 5_000)).toEqual({ sinceMs: 12_000 });
  });

  it('the idle timeout does not restart when it was off, or when words have ended it', () => {
    const watch = new IdleWatch();
    watch.rest();
    watch.goOn(1_000);
    expect(watch.isOn).toBe(false);
    watch.begin(1_000);
    watch.rest();
    watch.spoken();
    watch.rest();
    watch.goOn(2_000);
    expect(watch.isOn).toBe(false);
  });
});
