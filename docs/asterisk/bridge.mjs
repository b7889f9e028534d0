// Connects Asterisk's WebSocket channel to the server, in the words of Twilio. README.md beside it says how.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { takeAsterisk } from './call.mjs';
import { answerRest } from './rest.mjs';
import { env } from './settings.mjs';

const BODY_BYTES = 65_536;

async function bodyOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES) throw new Error('a body too long');
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

const server = createServer(async (request, response) => {
  try {
    const { pathname, searchParams } = new URL(request.url, 'http://bridge');
    const answer = await answerRest({
      authorization: request.headers.authorization,
      form: await bodyOf(request),
      method: request.method,
      path: pathname,
      query: searchParams,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.body && JSON.stringify(answer.body));
  } catch (error) {
    console.error(error.message);
    response.writeHead(500).end();
  }
});

const credential = `Basic ${Buffer.from(`asterisk:${env('BRIDGE_PASSWORD')}`).toString('base64')}`;
const sockets = new WebSocketServer({
  ...{ server, path: '/media', perMessageDeflate: false, maxPayload: BODY_BYTES },
  verifyClient: ({ req }) => req.headers.authorization === credential,
  handleProtocols: (offered) => offered.has('media') && 'media',
});
sockets.on('connection', takeAsterisk);

server.listen(Number(env('BRIDGE_PORT', '8765')), env('BRIDGE_HOST', '127.0.0.1'), () => {
  console.log(`the bridge listens on ${server.address().port}`);
});
