/** The receiver of the webhooks bench, in a process of its own: it reads each delivery and answers 200. Tells its parent its port. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer({ keepAlive: true }, (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-length': '0' }).end());
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
