import { describe, expect, it } from 'vitest';
import { cascadeStage, done, VOICES } from '../../support/cascade-steps.ts';
import { speak } from '../../support/cascade-world.ts';
import { DONE, textEvent } from '../../support/stream-upstream.ts';
import { jsonAnswer } from '../../support/transcription-upstream.ts';

const { start } = cascadeStage();

describe('the spoken answers of a cascade', () => {
  it("a cascade session speaks an answer with Markdown and figures as people read it out, and keeps the model's text", async () => {
    const { chat, connect, hearing, speech } = await start();
    hearing.script.push(jsonAnswer({ text: 'how much is it' }));
    const deltas = [
      '**It',
      '** costs $1,',
      '250.50, see [here](https://a.ex',
      'ample/x). Dr',
      '. Lee 👍.',
    ];
    chat.play({ pieces: [...deltas.map((delta) => textEvent(delta)), DONE] });
    const client = await connect(VOICES);
    speak(client);
    const turn = await done(client);
    expect(turn.output[0]?.content?.[0]?.transcript).toBe(
      '**It** costs $1,250.50, see [here](https://a.example/x). Dr. Lee 👍.',
    );
    const spoken = speech.seen.map(({ body }) => String(body.input));
    expect(spoken).toEqual([
      'It costs one thousand two hundred fifty dollars and fifty cents, see here.',
      'Doctor Lee.',
    ]);
  });
});
