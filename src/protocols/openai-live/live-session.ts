import type { Ending } from '../../../machines/transcription-stream.ts';
import { newId } from '../../kernel/ids.ts';
import { EventAllowance } from '../../voice/live/event-allowance.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import {
  record,
  stageVoice,
  type TapedVoice,
  tapedVoice,
} from '../../voice/recording/record-session.ts';
import type { RecordingStage } from '../../voice/recording/stage.ts';
import { writtenMessage } from '../../voice/session/conversation.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import { VoiceSession } from '../../voice/session/voice-session.ts';
import type {
  VoiceSessionDeps,
  VoiceSessionInput,
} from '../../voice/session/voice-session-input.ts';
import { SocketSession } from '../socket-session.ts';
import { Acknowledgement, HANDED_OVER } from './acknowledgement.ts';
import { renderLiveFormat } from './audio-format.ts';
import type { Delegation } from './delegation.ts';
import { LIVE_LIMITS } from './limits.ts';
import { LiveClient } from './live-client.ts';
import { LiveCommands } from './live-commands.ts';
import { closeReason, EXPIRED, LiveSender } from './live-sender.ts';
import type { LiveStart } from './read-start.ts';

export type TapedLive = TapedVoice & { readonly kind: 'live'; readonly start: LiveStart };

/** Opens a voice session in the protocol of `/v1/live/sessions`. Records it when this process records sessions. */
export function openLive(
  deps: VoiceDeps,
  input: VoiceSessionInput,
  start: LiveStart,
): SocketSession {
  const taped: TapedLive = { kind: 'live', ...tapedVoice(deps, input), start };
  const recorder = record(deps, taped);
  if (recorder === undefined) return createLiveSession(deps, input, start);
  return recorder.driven(stageLive(recorder, deps, input, start));
}

export function stageLive(
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
  start: LiveStart,
): SocketSession {
  const staged = stageVoice(stage, deps, input);
  return createLiveSession(staged.deps, staged.input, start);
}

function createLiveSession(
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
  start: LiveStart,
): SocketSession {
  const { clock, random } = deps;
  const { delegation, eventId, instructions } = start;
  const allowance = new EventAllowance(clock.monotonicMs());
  const sender = new LiveSender(random);
  const client = new LiveClient({
    allowance,
    clock,
    random,
    sender,
    target: delegation.type,
    isEnding: () => session.isEnding,
    events: {
      handedOver: (callId) => answerHandover(callId),
      answerDone: (hasDelegatedSilently) => commands.answerDone(hasDelegatedSilently),
      ended: (ending) => ended(ending),
    },
  });
  const session = new VoiceSession(deps, input, client);
  const { sessionId: id } = input.owner;
  const expiresAt = Math.floor(clock.now() / 1_000) + LIVE_LIMITS.seconds;
  const render = () =>
    renderLiveSession(session.config, {
      ...start,
      id,
      expiresAt,
      delegation: commands.delegation,
    });
  const { isSpeaking, sinceMs } = client;
  const acknowledgement = new Acknowledgement({ clock, session, isSpeaking });
  const commands = new LiveCommands({
    acknowledgement,
    allowance,
    delegation,
    instructions,
    random,
    render,
    sender,
    session,
    sinceMs,
  });
  for (const item of start.items) {
    const [{ text }] = item.content;
    const role = item.role === 'developer' ? 'system' : item.role;
    session.conversation.add(writtenMessage(newId(random, 'item_'), role, text));
  }
  const expiry = clock.setTimeout(() => session.fail(EXPIRED), LIVE_LIMITS.seconds * 1_000);

  /** Adds an output to a handover call, because most chat models refuse a call without an output. */
  function answerHandover(callId: string): void {
    session.conversation.add({
      id: newId(random, 'item_'),
      type: 'function_call_output',
      status: 'completed',
      callId,
      output: HANDED_OVER,
    });
  }

  function ended(ending: Ending): void {
    clock.clearTimeout(expiry);
    acknowledgement.clear();
    const { code, reason } = ending;
    sender.fault(ending);
    sender.send('session.closed', {
      reason: closeReason(ending),
      session: render(),
      usage: { seconds: client.sinceMs() / 1_000 },
    });
    sender.end({ code, reason });
  }

  return new SocketSession({
    clock,
    commands,
    sender,
    session,
    attached: () => sender.answer('session.started', eventId, { session: render() }),
  });
}

/** Returns the session as the client receives it. */
function renderLiveSession(
  { inputFormat, voice }: SessionConfig,
  about: Pick<LiveStart, 'model' | 'instructions' | 'items'> & {
    readonly id: string;
    /** Time when the session expires, in seconds since the Unix epoch. */
    readonly expiresAt: number;
    readonly delegation: Delegation;
  },
): Readonly<Record<string, unknown>> {
  const { delegation, expiresAt, id, instructions, items, model } = about;
  return {
    id,
    model,
    status: 'active',
    expires_at: expiresAt,
    audio: { format: renderLiveFormat(inputFormat), output: { voice } },
    delegation,
    input: items,
    instructions,
    store: false,
    triggers: [],
  };
}
