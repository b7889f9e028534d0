import { describe, expect, it } from 'vitest';
import { EngineBusy, type SttListener } from '../../../src/engines/engine.ts';
import { takeRecogniser } from '../../../src/sockets/take-engine.ts';
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
  it('reports a failure to the current listener', async () => {
    const { recogniser, fail } = await taken();
    const failures: string[] = [];
    recogniser.listen(listener(failures));
    fail(new Error('trap'));
    expect(failures).toEqual(['trap']);
  });

  it('throws when the recogniser failed before it had a listener', async () => {
    const { recogniser, fail } = await taken();
    const failures: string[] = [];
    fail(new Error('trap'));
    expect(() => recogniser.listen(listener(failures))).toThrow('trap');
    expect(failures).toEqual([]);
  });

  it('throws the refusal of the gateway when every recogniser is in use', async () => {
    const busy = { open: () => Promise.reject(new EngineBusy(5)) };
    await expect(takeRecogniser(busy, {})).rejects.toMatchObject({ status: 503 });
  });
});
