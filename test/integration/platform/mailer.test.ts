import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createMailer, type MailServer } from '../../../src/platform/mail/mailer.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { selfSigned } from '../../support/self-signed.ts';

const MAIL = { to: 'ann@example.com', subject: 'Invitation to acct_1', text: 'A text.\n.\nEnd.\n' };
const FROM = 'team@example.com';

type Received = { readonly from: string; readonly to: string[]; readonly message: string };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A mail server that takes mails of `FROM` to example.com and refuses what usual servers refuse. */
async function mailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const refusal = (code: number, text: string) =>
    Object.assign(new Error(text), { responseCode: code });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: ({ address }, _session, done) =>
      done(address === FROM ? null : refusal(550, `${address} may not send here`)),
    onRcptTo: ({ address }, _session, done) =>
      done(address.endsWith('@example.com') ? null : refusal(550, `no such user ${address}`)),
    onData(stream, { envelope }, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ from, to, message: Buffer.concat(parts).toString() });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { received, port };
}

const at = (port: number, more: Partial<MailServer> = {}): MailServer => ({
  host: '127.0.0.1',
  port,
  isSecure: false,
  user: '',
  password: '',
  ...more,
});

const send = (
  server: MailServer,
  { from = FROM, ca, ...mail }: Partial<typeof MAIL> & { from?: string; ca?: string } = {},
) =>
  createMailer({ clock: systemClock, from, server, ...(ca !== undefined && { ca }) }).send({
    ...MAIL,
    ...mail,
  });

const TLS = selfSigned(['127.0.0.1']);

describe('the mailer', () => {
  it('a mail arrives with its sender, its one recipient and its text, over TLS with a sign-in', async () => {
    const onAuth: SMTPServerOptions['onAuth'] = ({ username, password }, _session, done) =>
      username === 'team' && password === 'p@ss'
        ? done(null, { user: 'team' })
        : done(new Error('no'));
    const secured = { ...TLS, authOptional: false, onAuth };
    const signIn = { user: 'team', password: 'p@ss' };
    const implicit = await mailServer({ ...secured, secure: true });
    const started = await mailServer({ ...secured, disabledCommands: [] });
    const plain = await mailServer();
    const sent = [
      await send(at(plain.port)),
      await send(at(implicit.port, { ...signIn, isSecure: true }), { ca: TLS.cert }),
      await send(at(started.port, signIn), { ca: TLS.cert }),
    ];
    expect(sent).toEqual([{ kind: 'sent' }, { kind: 'sent' }, { kind: 'sent' }]);
    for (const { received } of [plain, implicit, started]) {
      expect(received).toHaveLength(1);
      const [mail] = received;
      expect(mail).toMatchObject({ from: FROM, to: [MAIL.to] });
      expect(mail?.message).toContain('Subject: Invitation to acct_1\r\n');
      expect(mail?.message).toMatch(/\r\n\r\nA text\.\r\n\.\r\nEnd\.\r\n/);
    }
    const wrong = await send(at(started.port, { ...signIn, password: 'x' }), { ca: TLS.cert });
    expect(wrong).toEqual({
      kind: 'failed',
      reason: 'the mail server refused the sign-in',
      status: 535,
    });
  });

  it('a mail that a server refuses at any step fails with a reason that has no address in it', async () => {
    const { port, received } = await mailServer();
    const busy = await mailServer({
      onMailFrom: (_address, _session, done) =>
        done(Object.assign(new Error('try later'), { responseCode: 451 })),
    });
    const rejecting = await mailServer({
      onData(stream, _session, done) {
        stream.resume();
        const error = Object.assign(new Error(`spam for ${MAIL.to}`), { responseCode: 554 });
        stream.on('end', () => done(error));
      },
    });
    const needsTls = await mailServer({ disabledCommands: [], ...TLS });
    const untrusted = await mailServer({ secure: true, ...TLS });
    const closedPort = await mailServer();
    await closing.pop()?.();
    const signIn = { user: 'u', password: 'p' };
    const refused: readonly [string, Promise<unknown>, number | undefined][] = [
      ['sender', send(at(port), { from: 'other@example.com' }), 550],
      ['recipient', send(at(port), { to: 'ann@example.net' }), 550],
      ['busy', send(at(busy.port)), 451],
      ['mail', send(at(rejecting.port)), 554],
      ['no TLS for a password', send(at(port, signIn)), undefined],
      ['certificate behind STARTTLS', send(at(needsTls.port, signIn)), undefined],
      ['certificate', send(at(untrusted.port, { isSecure: true })), undefined],
      ['TLS on a plain port', send(at(port, { isSecure: true })), undefined],
      ['closed port', send(at(closedPort.port)), undefined],
      ['name', send(at(port, { host: 'mail.invalid' })), undefined],
    ];
    for (const [name, sending, status] of refused) {
      const outcome = (await sending) as { kind: string; reason: string; status?: number };
      expect([name, outcome.kind]).toEqual([name, 'failed']);
      if (status !== undefined) expect([name, outcome.status]).toEqual([name, status]);
      expect(outcome.reason).toMatch(/^the /);
      expect(outcome.reason).not.toMatch(/@|example/);
    }
    expect(received).toEqual([]);
  });

  it('a server that says nothing, or one byte at a time, is left at the deadline, and its sockets are closed', async () => {
    const sockets: Socket[] = [];
    const dripping = createServer((socket) => {
      sockets.push(socket);
      const timer = setInterval(() => socket.write('2'), 20);
      socket.on('error', () => {});
      socket.on('close', () => clearInterval(timer));
    });
    const port = await listening(dripping);
    const clock = new ManualClock();
    const mailer = createMailer({ clock, from: FROM, server: at(port) });
    const sending = Array.from({ length: 9 }, () => mailer.send(MAIL));
    expect(await sending[8]).toEqual({
      kind: 'failed',
      reason: 'too many mails are being sent',
      status: undefined,
    });
    await expect.poll(() => sockets.length, { timeout: 5_000 }).toBe(8);
    clock.advance(10_000);
    for (const outcome of await Promise.all(sending.slice(0, 8))) {
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'the mail server took too long' });
    }
    await expect
      .poll(() => sockets.every((socket) => socket.destroyed), { timeout: 5_000 })
      .toBe(true);
    // The places of the failed mails are free again.
    const again = mailer.send(MAIL);
    await expect.poll(() => sockets.length, { timeout: 5_000 }).toBe(9);
    clock.advance(10_000);
    expect(await again).toMatchObject({ kind: 'failed' });
  });
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}
