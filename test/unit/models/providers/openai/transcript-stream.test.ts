import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import {
  RelayedTranscript,
  streamOfTranscript,
} from '../../../../../src/models/providers/openai/transcript-stream.ts';
import { NOTHING_TOLD } from '../../../../../src/models/providers/transcription-rail.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

const DELTA = 'data: {"type":"transcript.text.delta","delta":"a"}\n\n';
const DONE = 'data: {"type":"transcript.text.done","text":"a","usage":{"seconds":3}}\n\n';

function relayed(...pieces: (string | Error)[]) {
  const { answer, told } = openedAnswer(...pieces);
  return { stream: new RelayedTranscript(answer), told };
}

async function all(stream: { next(): Promise<Uint8Array | undefined> }): Promise<string> {
  let text = '';
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
    text += Buffer.from(event).toString();
  }
  return text;
}

describe('a relayed transcript', () => {
  it('a relayed transcript stream is passed on without its terminator, and its usage is read', async () => {
    const text = `${DELTA}${DONE}data: [DONE]\n\n`;
    for (const chunks of [[text], text.match(/[\s\S]{1,7}/g) ?? []]) {
      const { stream } = relayed(...chunks);
      await stream.begin();
      expect(stream.metered().seconds).toBe(chunks.length === 1 ? 3 : null);
      expect(await all(stream)).toBe(DELTA + DONE);
      expect(stream.metered().seconds).toBe(3);
    }
  });

  it('a relayed transcript stream is complete without a terminator after its done event', async () => {
    expect(await all(relayed(DELTA, DONE).stream)).toBe(DELTA + DONE);
  });

  it('a relayed transcript stream breaks when it ends early, when its upstream breaks or when it is empty', async () => {
    await expect(all(relayed(DELTA).stream)).rejects.toBeInstanceOf(StreamBroken);
    await expect(all(relayed(DELTA, new Error('reset')).stream)).rejects.toBeInstanceOf(
      StreamBroken,
    );
    await expect(relayed('data: [DONE]\n\n').stream.begin()).rejects.toBeInstanceOf(StreamBroken);
  });

  it('a relayed transcript stream stops its upstream at an event above the size limit', async () => {
    const { stream, told } = relayed(`data: ${'x'.repeat(MODEL_LIMITS.upstream.sseEventBytes)}`);
    await expect(stream.next()).rejects.toBeInstanceOf(StreamBroken);
    expect(told.stops).toBe(1);
  });

  it('a relayed transcript stream ends when it is stopped, and stops its upstream', async () => {
    const { stream, told } = relayed(DELTA, DONE);
    await stream.next();
    stream.stop();
    expect(await stream.next()).toBeUndefined();
    expect(told.stops).toBe(1);
  });
});

describe('a whole transcript as a stream', () => {
  it('a whole transcript streams as one delta and a done event, or the done event alone when empty', async () => {
    const usage = { seconds: 3 };
    expect(await all(streamOfTranscript({ text: 'a', usage }, NOTHING_TOLD))).toBe(DELTA + DONE);
    expect(await all(streamOfTranscript({ text: '' }, NOTHING_TOLD))).not.toContain('delta');
    const stopped = streamOfTranscript({ text: 'a' }, NOTHING_TOLD);
    stopped.stop();
    expect(await stopped.next()).toBeUndefined();
  });
});
