import { EventAllowance } from '../../live/event-allowance.ts';
import { VoiceSession } from '../../session/voice-session.ts';
import type { VoiceSessionDeps, VoiceSessionInput } from '../../session/voice-session-input.ts';
import { SocketSession } from '../socket-session.ts';
import { ClientCommands } from './client-commands.ts';
import { EventSender } from './event-sender.ts';
import { RealtimeClient } from './realtime-client.ts';
import { renderSession } from './render-session.ts';

/** Opens a voice session in the realtime protocol. */
export function createRealtimeSession(
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
): SocketSession {
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
