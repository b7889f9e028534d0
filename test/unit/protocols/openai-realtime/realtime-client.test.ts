import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { EventSender } from '../../../../src/protocols/openai-realtime/event-sender.ts';
import { RealtimeClient } from '../../../../src/protocols/openai-realtime/realtime-client.ts';
import { EventAllowance } from '../../../../src/voice/live/event-allowance.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { FakeSocket } from '../../../support/voice-world.ts';

const span = { heardMs: 1_500, startMs: 0, endMs: 1_500, latencyMs: 540, silentMs: 540 };
const heard = { text: 'he was', tail: '', ...span, asked: true, isCut: false, failed: false };

function sent(change: Partial<typeof heard>): FakeSocket {
  const socket = new FakeSocket();
  const sender = new EventSender(systemRandom);
  sender.attach(socket);
  const allowance = new EventAllowance(new ManualClock().monotonicMs());
  const client = new RealtimeClient(systemRandom, sender, allowance);
  client.transcript('item_1', { ...heard, ...change });
  return socket;
}

describe('the transcript of an utterance', () => {
  it('the transcript of an utterance is sent once as a delta and once as a whole, with its seconds', () => {
    expect(sent({}).events).toMatchObject([
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

  it('the transcript of an utterance is sent as failed rather than as empty when the recogniser was lost', () => {
    expect(sent({ failed: true, text: '' }).types()).toEqual([
      'conversation.item.input_audio_transcription.failed',
    ]);
  });
});
