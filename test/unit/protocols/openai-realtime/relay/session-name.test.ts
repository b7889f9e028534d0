import { describe, expect, it } from 'vitest';
import { leadingType } from '../../../../../src/protocols/openai-realtime/relay/metered-event.ts';
import {
  nameForClient,
  nameForUpstream,
} from '../../../../../src/protocols/openai-realtime/relay/session-name.ts';

const forClient = (json: string) => {
  const frame = Buffer.from(json);
  return nameForClient(frame, leadingType(frame), 'acme/voice').toString();
};
const forUpstream = (json: string) =>
  Buffer.from(nameForUpstream(new Uint8Array(Buffer.from(json)), 'voice-1')).toString();

describe('the name of the model in a relayed session', () => {
  it.each([
    '{"type":"session.created","session":{"id":"s","model":"voice-1"}}',
    '{"session": {"id":"s","model":"voice-1"}, "type": "session.updated"}',
  ])("an event of the upstream reaches the client with the catalogue's model name: %s", (json) => {
    expect(forClient(json)).toBe(json.replace('voice-1', 'acme/voice'));
  });

  it.each([
    '{"type":"session.update","session":{"model":"acme/voice"}}',
    '{"type": "session.update", "event_id": "e", "session": {"model": "acme/voice"}}',
  ])("an event of the client reaches the upstream with the upstream's model name: %s", (json) => {
    expect(forUpstream(json)).toBe(json.replace('acme/voice', 'voice-1'));
  });

  it.each([
    '{"type":"session.updated","session":{"audio":{"input":{"transcription":{"model":"m"}}}}}',
    '{"type":"session.updated","model":"m","session":{"tools":[{"model":"m"}]}}',
    '{"type":"session.updated","session":{"model":null}}',
    '{"type":"response.done","response":{"model":"m"}}',
    '{"response":{"model":"m","text":"\\"session.created\\""},"type":"response.done"}',
    'session.created',
    '',
  ])("a relayed session replaces no other name than the session's model: %s", (json) => {
    expect([forClient(json), forUpstream(json)]).toEqual([json, json]);
  });
});
