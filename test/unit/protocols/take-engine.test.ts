import { describe, expect, it } from 'vitest';
import { EngineBusy, type SttListener } from '../../../src/engines/engine.ts';
import { openPlaced, takeRecogniser } from '../../../src/protocols/take-engine.ts';
import type { VoiceSessionInput } from '../../../src/voice/session/voice-session-input.ts';
import { createFakeEngines } from '../../support/voice-fakes.ts';

/** A recogniser taken for a stream, and the listener that it was opened with. */
async function taken() {
  const { pocketsphinx } = createFakeEngines().stt;
  let own: SttListener | undefined;
  const recogniser = await takeRecogniser(
    {
      open(options) {
        own = options.listener;
        return pocketsphinx.open(options);
      },
    },
    {},
  );
  return { recogniser, fail: (error: Error) => own?.failed(error) };
}

const listener = (failures: string[]): SttListener => ({
  transcript: () => {},
  failed: ({ message }) => failures.push(message),
});

describe('takeRecogniser', () => {
  it('takeRecogniser reports a failure of the recogniser to the current listener', async () => {
    const { recogniser, fail } = await taken();
    const failures: string[] = [];
    recogniser.listen(listener(failures));
    fail(new Error('trap'));
    expect(failures).toEqual(['trap']);
  });

  it('takeRecogniser throws when the recogniser failed before it had a listener', async () => {
    const { recogniser, fail } = await taken();
    const failures: string[] = [];
    fail(new Error('trap'));
    expect(() => recogniser.listen(listener(failures))).toThrow('trap');
    expect(failures).toEqual([]);
  });

  it('takeRecogniser throws the refusal of the gateway when every recogniser is in use', async () => {
    const busy = { open: () => Promise.reject(new EngineBusy(5)) };
    await expect(takeRecogniser(busy, {})).rejects.toMatchObject({ status: 503 });
  });
});

describe('openPlaced', () => {
  const opened = { owner: {} } as VoiceSessionInput;

  it('openPlaced opens a session with engines that share its place, and frees the place once the session ends', async () => {
    const engines = createFakeEngines();
    const { pocketsphinx } = engines.stt;
    const input = await openPlaced(engines, async (placed) => {
      expect(placed.stt.pocketsphinx).not.toBe(pocketsphinx);
      return opened;
    });
    expect(pocketsphinx.listeners).toBe(1);
    input.release?.();
    input.release?.();
    expect(pocketsphinx.listeners).toBe(0);
  });

  it('openPlaced frees the place when the session is refused', async () => {
    const engines = createFakeEngines();
    const refused = openPlaced(engines, () => Promise.reject(new Error('no money')));
    await expect(refused).rejects.toThrow('no money');
    expect(engines.stt.pocketsphinx.listeners).toBe(0);
  });

  it('openPlaced refuses the upgrade with 503 and a time to retry when no place is free', async () => {
    const engines = createFakeEngines();
    engines.stt.pocketsphinx.mostListeners = 0;
    const refused = openPlaced(engines, async () => opened);
    await expect(refused).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  });
});
