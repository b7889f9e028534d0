/** What the peers of the benches have in common: processes that carry out the orders of their parent over IPC. */

import uws from 'uWebSockets.js';

/** Answers each order with what came of it, or with why it failed, and ends with the parent. */
export function obeyOrders<Order>(carryOut: (order: Order) => Promise<unknown>): void {
  process.on('message', (order: Order) => {
    carryOut(order).then(
      (answer) => process.send?.(answer),
      (error: Error) => process.send?.({ failed: error.message }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/** Runs `one` as often as there are requests, by so many callers side by side. */
export async function callSideBySide(
  { callers, requests }: { readonly callers: number; readonly requests: number },
  one: () => Promise<void>,
): Promise<void> {
  let left = requests;
  const caller = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Listens on a free port as the upstream, and tells the parent which. */
export function listenAsUpstream(app: uws.TemplatedApp): void {
  app.listen('127.0.0.1', 0, (socket) => {
    process.send?.({ upstreamPort: uws.us_socket_local_port(socket) });
  });
}
