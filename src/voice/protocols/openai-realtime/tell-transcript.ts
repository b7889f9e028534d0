import { EngineBusy } from '../../../engines/engine.ts';
import { StageFailed } from '../../session/voice-pipeline.ts';
import type { Heard } from '../../stt/transcriber-events.ts';
import type { EventSender } from './event-sender.ts';

const EVENT = 'conversation.item.input_audio_transcription';

/** Tells the client what its caller said, or that it could not be transcribed. */
export function tellTranscript(sender: EventSender, itemId: string, heard: Heard): void {
  const about = { item_id: itemId, content_index: 0 };
  if (heard.failed) {
    const error = {
      type: 'transcription_error',
      code: 'engine_failed',
      message: 'The speech could not be transcribed.',
    };
    sender.send(`${EVENT}.failed`, { ...about, error });
    return;
  }
  sender.batch(() => {
    // One delta: a hypothesis may still change, and deltas can only be added to.
    sender.send(`${EVENT}.delta`, { ...about, delta: heard.text });
    sender.send(`${EVENT}.completed`, {
      ...about,
      transcript: heard.text,
      usage: { type: 'duration', seconds: heard.heardMs / 1_000 },
      latency_ms: heard.latencyMs,
    });
  });
}

/** Tells the client that nothing is transcribed for now. */
export function tellFailure(sender: EventSender, error: Error): void {
  if (error instanceof StageFailed) {
    sender.failed(error);
  } else if (error instanceof EngineBusy) {
    const message = `${error.message}; speak again in ${error.retryAfterSeconds} s`;
    sender.error('server_error', { code: 'engine_overloaded', message });
  } else {
    sender.error('server_error', { code: 'engine_failed', message: error.message });
  }
}
