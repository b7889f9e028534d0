// Connects Asterisk's WebSocket channel to the server, in the words of Twilio. README.md beside it says how.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { hearAri } from './ari.mjs';
import { takeAsterisk } from './call.mjs';
import { forgetLost, fromAri } from './channels.mjs';
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
    const type = answer.file === undefined ? 'application/json' : 'audio/wav';
    response.writeHead(answer.status, { 'content-type': type });
    if (answer.file === undefined) response.end(answer.body && JSON.stringify(answer.body));
    else
      createReadStream(answer.file)
        .on('error', () => response.destroy())
        .pipe(response);
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

hearAri(fromAri, () => {
  forgetLost().catch((error) => console.error(`Asterisk's channels: ${error.message}`));
});
