import type { VoiceDeps } from '../../../voice/live/voice-deps.ts';
import { record, type TapedVoice, tapedVoice } from '../../../voice/recording/record-session.ts';
import { isLive, type RecordingStage } from '../../../voice/recording/stage.ts';
import type { VoiceSessionDeps } from '../../../voice/session/voice-session-input.ts';
import type { MediaCodec } from '../../carriers/carrier.ts';
import { readLoopback } from '../../carriers/loopback/loopback-codec.ts';
import type { LineConnection } from '../../voice/line/call-line.ts';
import type { OpenSound } from '../../voice/line/line-sounds.ts';
import { LiveCall } from '../live-call.ts';
import type { LiveCallOptions } from '../live-call-options.ts';
import { StagedCall } from './staged-call.ts';

/** Options of a call that its recording keeps beside the input of its voice session. */
type TapedCall = Omit<LiveCallOptions, 'input' | 'codec' | 'events' | 'spoke'>;

export type TapedPhoneCall = TapedVoice & { readonly kind: 'call'; readonly call: TapedCall };

/** Opens a call. Records it for a replay when this process records sessions. */
export function openLiveCall(
  deps: VoiceSessionDeps & Pick<VoiceDeps, 'tapes'>,
  options: LiveCallOptions,
): LiveCall {
  const { codec, events, input, spoke, ...call } = options;
  const taped: TapedPhoneCall = { kind: 'call', ...tapedVoice(deps, input), call };
  const recorder = record(deps, taped);
  if (recorder === undefined) return new LiveCall(deps, options);
  const staged = new StagedCall(recorder, deps, { ...call, input, events: { ...events, spoke } });
  return recordedCall(staged.call, recorder.driven(staged), codec);
}

/** Placeholder for parts that a replay does not call. */
const PLAYED = {} as never;

/** Builds a call from its recording, for a replay. */
export const stageRecordedCall = (
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  { call, input }: Pick<TapedPhoneCall, 'call' | 'input'>,
): StagedCall =>
  new StagedCall(stage, deps, {
    ...call,
    input: { ...input, sessionHolds: PLAYED, pipeline: PLAYED },
  });

/**
 * Returns the call for its stream and its server. Each method call is recorded and delivered in its turn, and returns a promise
 * of the result. Reads of properties are immediate.
 */
function recordedCall(call: LiveCall, driven: StagedCall, ownCodec: MediaCodec): LiveCall {
  let present: LineConnection | undefined;
  const outside = <T extends object>(part: T, prefix: string): T =>
    new Proxy(part, {
      get(_, key) {
        const value: unknown = Reflect.get(part, key, part);
        if (typeof key === 'symbol') return value;
        const path = `${prefix}${key}`;
        if (path === 'attach') {
          return (connection: LineConnection, codec = ownCodec) => {
            present = connection;
            driven.attach(inFormat(connection, codec));
          };
        }
        // A recording has one stream at a time: the end of a replaced stream is not delivered.
        if (path === 'detached') {
          return (connection = present) => {
            if (connection === present) driven.perform(path, []);
          };
        }
        if (typeof value === 'function') {
          return (...args: unknown[]) =>
            new Promise((resolve) => {
              driven.perform(path, kept(path, args), resolve);
            });
        }
        return isLive(value) && !(value instanceof Promise) ? outside(value, `${path}.`) : value;
      },
    });
  return outside(call, '');
}

/** Copies arguments whose buffers the caller reuses, and reads a sound completely, because a recording stores data only. */
function kept(path: string, args: readonly unknown[]): readonly unknown[] {
  if (path === 'actions.sounds.play') {
    const [open] = args as [OpenSound];
    return [
      async (signal: AbortSignal) => {
        const { blocks, sampleRateHz } = await open(signal);
        return { sampleRateHz, blocks: Array.from(blocks, (block) => block.slice()) };
      },
    ];
  }
  if (path !== 'media') return args;
  const [event] = args as Parameters<LiveCall['media']>;
  const bytes = event.kind === 'media' ? { bytes: Uint8Array.from(event.bytes) } : {};
  return [{ ...event, ...bytes }];
}

/** Translates the messages of a recorded call from the loopback's format to its carrier's format. */
function inFormat(connection: LineConnection, codec: MediaCodec): LineConnection {
  return {
    send(data) {
      const message = readLoopback(data);
      if ('media' in message) {
        return connection.send(codec.media(Buffer.from(message.media, 'base64')));
      }
      return connection.send('mark' in message ? codec.mark(message.mark) : codec.clear());
    },
    batch: (work) => connection.batch(work),
    close: (code, reason) => connection.close(code, reason),
  };
}
