import { BRAND } from '../kernel/ids.ts';

/** Options of the sockets for clients of OpenAI's live protocols. */
export const OPENAI_LIVE = {
  credential: 'agent',
  authenticateFrom: ['bearer', 'subprotocol', 'query'],
  protocols: ['realtime', BRAND.realtimeProtocol],
  keyProtocolPrefix: 'openai-insecure-api-key.',
  envelope: 'openai',
} as const;
