import { EngineBusy } from '../../engines/engine.ts';
import type { Heard } from '../ear-events.ts';
import { LegFailed } from './legs.ts';
import type { Outlet } from './outlet.ts';

const EVENT = 'conversation.item.input_audio_transcription';

/** Tells the client what its caller said, or that it could not be made out. */
export function tellTranscript(outlet: Outlet, itemId: string, heard: Heard): void {
  const about = { item_id: itemId, content_index: 0 };
  if (heard.failed) {
    const error = {
      type: 'transcription_error',
      code: 'engine_failed',
      message: 'The speech could not be transcribed.',
    };
    outlet.send(`${EVENT}.failed`, { ...about, error });
    return;
  }
  outlet.batch(() => {
    // One delta: a hypothesis may still change, and deltas can only be added to.
    outlet.send(`${EVENT}.delta`, { ...about, delta: heard.text });
    outlet.send(`${EVENT}.completed`, {
      ...about,
      transcript: heard.text,
      usage: { type: 'duration', seconds: heard.heardMs / 1_000 },
      latency_ms: heard.latencyMs,
    });
  });
}

/** Tells the client that nothing is made out for now. */
export function tellFailure(outlet: Outlet, error: Error): void {
  if (error instanceof LegFailed) {
    outlet.failed(error);
  } else if (error instanceof EngineBusy) {
    const message = `${error.message}; speak again in ${error.retryAfterSeconds} s`;
    outlet.error('server_error', { code: 'engine_overloaded', message });
  } else {
    outlet.error('server_error', { code: 'engine_failed', message: error.message });
  }
}
