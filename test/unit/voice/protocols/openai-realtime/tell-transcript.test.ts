import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../../src/kernel/random.ts';
import { EventSender } from '../../../../../src/voice/protocols/openai-realtime/event-sender.ts';
import { tellTranscript } from '../../../../../src/voice/protocols/openai-realtime/tell-transcript.ts';
import { FakeSocket } from '../../../../support/voice-world.ts';

const span = { heardMs: 1_500, startMs: 0, endMs: 1_500, latencyMs: 540 };
const heard = { text: 'he was', tail: '', ...span, asked: true, isCut: false, failed: false };

function tell(change: Partial<typeof heard>): FakeSocket {
  const socket = new FakeSocket();
  const sender = new EventSender(systemRandom);
  sender.attach(socket);
  tellTranscript(sender, 'item_1', { ...heard, ...change });
  return socket;
}

describe('tellTranscript', () => {
  it('tells the words once as a delta and once as a whole, with the seconds they took', () => {
    expect(tell({}).events).toMatchObject([
      { type: 'conversation.item.input_audio_transcription.delta', delta: 'he was' },
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: 'item_1',
        content_index: 0,
        transcript: 'he was',
        usage: { type: 'duration', seconds: 1.5 },
      },
    ]);
  });

  it('says that it failed rather than that nothing was said', () => {
    expect(tell({ failed: true, text: '' }).types()).toEqual([
      'conversation.item.input_audio_transcription.failed',
    ]);
  });
});
