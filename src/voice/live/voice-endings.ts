import type { Ending } from '../../../machines/transcription-stream.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { refuseHold } from '../../models/purchase/refuse-hold.ts';
import { VOICE_LIMITS } from '../limits.ts';

/** Returns an ending with an error event, which gives the client the reason. */
const failure = (code: number, error: string, message: string): Ending => ({
  code,
  reason: error,
  error: { code: error, message },
});

export const BROKEN = failure(1011, 'internal_error', 'The session broke.');
export const LEDGER_AWAY = failure(1011, 'ledger_unavailable', 'The balance cannot be reached.');
export const ENGINE_FAILED = failure(
  1011,
  'engine_failed',
  'The recogniser stopped; open a new stream.',
);
export const TRANSCRIBER_LOST = failure(
  1011,
  'transcriber_lost',
  'No source of the transcriber could transcribe what was said; open a new session.',
);
export const TRANSCRIPT_UNFINISHED = failure(
  1011,
  'transcript_unfinished',
  'The last words were not transcribed in time.',
);
export const TOO_FAST = failure(
  1008,
  'audio_too_fast',
  `Audio may be at most ${VOICE_LIMITS.audioAheadSeconds} s ahead of real time.`,
);
export const NOT_RAW_AUDIO: Ending = {
  ...failure(1008, 'data_0000', 'This is a file or a recording, and no raw audio.'),
  reason: 'DATA-0000: containers are not read; send raw audio and name its encoding',
};
export const TOO_MANY_EVENTS = failure(1008, 'rate_limit_exceeded', 'Too many events.');
export const CLIENT_SLOW = failure(1013, 'client_too_slow', 'The client reads too slowly.');
export const UPSTREAM_SLOW = failure(
  1013,
  'upstream_too_slow',
  'The upstream does not take what it is sent.',
);
export const TOO_MANY_RESPONSES = failure(
  1008,
  'too_many_responses',
  `At most ${VOICE_LIMITS.relay.responses} responses may be under way.`,
);

export const UPSTREAM_DISTRUSTED = failure(
  1011,
  'upstream_distrusted',
  'The upstream reported usage that this session cannot have had; open a new session.',
);

export const UPSTREAM_CLOSED = failure(
  1011,
  'upstream_closed',
  'The upstream broke the session off.',
);

/** Returns the ending for an upstream's close: a normal close as it is, any other as an error. */
export const upstreamClosed = (code: number, reason: string): Ending =>
  code === 1000 || code === 1001 ? { code, reason } : UPSTREAM_CLOSED;

/** Returns the message of the upgrade's refusal, or `spent` when the balance ran out during the session. */
const sentence = (refusal: HoldRefusal, spent: string): string =>
  refusal.reason === 'insufficient_balance' ? spent : String(refuseHold(refusal).fields.message);

/** Adds to an ending the seconds of audio that were neither heard nor charged. */
export function leavingOut(ending: Ending, unheardSeconds: number): Ending {
  if (unheardSeconds === 0) return ending;
  const { code, message } = ending.error ?? {
    code: 'audio_dropped',
    message: 'The stream is cut.',
  };
  const rest = `The last ${unheardSeconds} s that came were not heard and are not charged.`;
  return { ...ending, error: { code, message: `${message} ${rest}`, unheardSeconds } };
}

/** Returns the ending for a transcription whose further slice the ledger refused. */
export const audioRefused = (refusal: HoldRefusal): Ending =>
  failure(1008, codeOf(refusal), sentence(refusal, 'No further audio can be paid for.'));

/** Returns the ending for a session whose further turn the ledger refused, in the error codes of the realtime protocol. */
export const turnRefused = (refusal: HoldRefusal): Ending =>
  failure(
    1008,
    refusal.reason === 'insufficient_balance' ? 'budget_exhausted' : codeOf(refusal),
    sentence(refusal, 'The balance does not cover another turn.'),
  );

/** Returns the error code of a refusal. A cap counts as a used-up budget, as on every route of the gateway. */
const codeOf = ({ reason }: HoldRefusal): string =>
  reason === 'cap_exceeded' ? 'budget_exhausted' : reason;
