import { BRAND } from '../kernel/ids.ts';

/** How clients of OpenAI's live protocols open their sockets. */
export const OPENAI_LIVE = {
  credential: 'agent',
  authenticateFrom: ['bearer', 'subprotocol', 'query'],
  protocols: ['realtime', BRAND.realtimeProtocol],
  keyProtocolPrefix: 'openai-insecure-api-key.',
  envelope: 'openai',
} as const;
