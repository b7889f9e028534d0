import { EventAllowance } from '../../voice/live/event-allowance.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import {
  record,
  stageVoice,
  type TapedVoice,
  tapedVoice,
} from '../../voice/recording/record-session.ts';
import type { RecordingStage } from '../../voice/recording/stage.ts';
import { VoiceSession } from '../../voice/session/voice-session.ts';
import type {
  VoiceSessionDeps,
  VoiceSessionInput,
} from '../../voice/session/voice-session-input.ts';
import { SocketSession } from '../socket-session.ts';
import { ClientCommands } from './client-commands.ts';
import { EventSender } from './event-sender.ts';
import { RealtimeClient } from './realtime-client.ts';
import { renderSession } from './render-session.ts';

export type TapedRealtime = TapedVoice & { readonly kind: 'realtime' };

/** Opens a voice session in the realtime protocol. Records it when this process records sessions. */
export function openRealtime(deps: VoiceDeps, input: VoiceSessionInput): SocketSession {
  const taped: TapedRealtime = { kind: 'realtime', ...tapedVoice(deps, input) };
  const recorder = record(deps, taped);
  if (recorder === undefined) return createRealtimeSession(deps, input);
  return recorder.driven(stageRealtime(recorder, deps, input));
}

/** Builds the session again, with all its dependencies behind a stage. */
export function stageRealtime(
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
): SocketSession {
  const staged = stageVoice(stage, deps, input);
  return createRealtimeSession(staged.deps, staged.input);
}

function createRealtimeSession(deps: VoiceSessionDeps, input: VoiceSessionInput): SocketSession {
  const { clock, random } = deps;
  const allowance = new EventAllowance(clock.monotonicMs());
  const sender = new EventSender(random);
  const client = new RealtimeClient(random, sender, allowance);
  const session = new VoiceSession(deps, input, client);
  const { sessionId: id, model } = input.owner;
  const render = () =>
    renderSession(session.config, { id, model, transcriber: session.transcriberModel });
  const { pipeline } = input;
  const commands = new ClientCommands({ allowance, pipeline, random, render, sender, session });
  return new SocketSession({
    clock,
    commands,
    sender,
    session,
    attached() {
      sender.send('session.created', { session: render() });
      const conversation = { id: client.conversationId, object: 'realtime.conversation' };
      sender.send('conversation.created', { conversation });
    },
  });
}
