import { describe, expect, it } from 'vitest';
import { LAST_WORDS } from '../../../../src/phone/calls/call-pipeline.ts';
import { TRANSCRIBER_LOST } from '../../../../src/phone/voice/lost-words.ts';
import { phoneCall } from '../../../support/phone-line.ts';

const AGAIN = 'Sorry, I could not hear that. Could you say it again?';

async function lossyCall() {
  const world = await phoneCall();
  const { pocketsphinx } = world.engines.stt;
  const lose = (isLost: boolean) => {
    pocketsphinx.decoding = isLost
      ? async () => {
          throw new Error('the decoder is gone');
        }
      : undefined;
  };
  return { ...world, lose };
}

describe('a call whose transcriber is lost', () => {
  it('a call whose transcriber is lost asks the caller to repeat, and goes on when that is heard', async () => {
    const { answers, lose, passes, says, turns } = await lossyCall();
    for (let round = 0; round < 2; round++) {
      lose(true);
      await says('hello');
      await passes(4_000);
      lose(false);
      answers('Fine thanks.');
      await says('hello');
      await passes(4_000);
    }
    const spoken = turns.filter((turn) => turn.startsWith('assistant'));
    const round = [`assistant: ${AGAIN}`, 'assistant: Fine thanks.'];
    expect(spoken).toEqual([...round, ...round]);
  });

  it('a call whose transcriber loses two utterances in a row says that it ends, and ends', async () => {
    const { engines, lose, over, passes, says } = await lossyCall();
    lose(true);
    await says('hello');
    await passes(4_000);
    expect(over).toEqual([]);
    await says('hello');
    await passes(8_000);
    expect(engines.tts.flite.spoken).toEqual(
      expect.arrayContaining([LAST_WORDS.split(/(?<=\.) /)[0]]),
    );
    expect(over).toEqual([TRANSCRIBER_LOST]);
  });
});
