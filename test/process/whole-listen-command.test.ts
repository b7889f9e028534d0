import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.ts';
import { type Receiver, signatureOf, startReceiver } from '../support/receiver.ts';
import { freePort } from '../support/server-process.ts';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const WAIT_MS = 20_000;

let world: WholeWorld;
let receiver: Receiver;
let developer: Developer;
let key: string;
beforeAll(async () => {
  world = await startWorld();
  receiver = await startReceiver();
  developer = await newDeveloper(world.api, 'listens');
  key = developer.headers.authorization?.replace('Bearer ', '') ?? '';
});
const started: Listening[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.end('SIGKILL');
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

type Listening = {
  lines(): readonly string[];
  /** Its lines, once there are those. */
  until(...patterns: readonly RegExp[]): Promise<readonly string[]>;
  /** Its exit code, once it has ended by itself. */
  code(): Promise<number | null>;
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<number | null>;
};

/** `npm run listen -- …` in a process of its own. */
function listen(given: readonly string[], environment: Record<string, string> = {}): Listening {
  const { HOME, PATH } = process.env;
  const child = spawn(process.execPath, [compiled('src/app/commands/listen.ts'), ...given], {
    env: { HOME, PATH, ...environment },
  });
  let output = '';
  const keep = (text: Buffer) => {
    output += text;
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const listening: Listening = {
    lines: () => output.trimEnd().split('\n'),
    async until(...patterns) {
      const missing = () => patterns.filter((pattern) => !pattern.test(output));
      await expect.poll(missing, { timeout: WAIT_MS, message: `of:\n${output}` }).toEqual([]);
      return listening.lines();
    },
    code: async () => (await closed)[0],
    async end(signal) {
      // npm sends on what the terminal has sent already, so that one more may come at any moment of the end.
      const again = setInterval(() => child.kill(signal), 1);
      child.kill(signal);
      const [code] = await closed;
      clearInterval(again);
      return code;
    },
  };
  started.push(listening);
  return listening;
}

const ofServer = (...more: readonly string[]) => ['--server', world.url, '--key', key, ...more];
const happened = async (name: string): Promise<boolean> => {
  const { body } = await ask(`${world.url}/v1/developer/events`, { headers: developer.headers });
  return (body.events as { event: string }[]).some(({ event }) => event === name);
};
const forwarded = (path: string) => receiver.received.filter((one) => one.path === path);

describe('npm run listen', () => {
  it('npm run listen prints new events and posts each one signed like a webhook, until Ctrl-C', async () => {
    await developer.createAgent('before');
    await expect.poll(() => happened('agent.created'), { timeout: WAIT_MS }).toBe(true);
    const listening = listen(ofServer('--forward', `${receiver.url}/hook`, '--events', 'agent.*'));
    await listening.until(
      /^Forwards to \S+\/hook, signed with whsec_[0-9a-f]{64}$/m,
      /^Events of /m,
    );
    const agentId = await developer.createAgent('now');
    const lines = await listening.until(/-> \d/);
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(
        new RegExp(
          String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +\d+  agent\.created +0x[0-9a-fA-F]{40}  agentId=${agentId}$`,
        ),
      ),
      expect.stringMatching(/^ {4}-> 200 in \d+ ms$/),
    ]);
    const [one, ...more] = forwarded('/hook');
    if (one === undefined) throw new Error('it was posted');
    expect(more).toEqual([]);
    expect(one.event).toMatchObject({ event: 'agent.created', name: 'now', agentId });
    const secret = /whsec_\w+/.exec(lines[0] ?? '')?.[0] ?? '';
    expect(one.headers['x-svc-signature']).toBe(signatureOf(secret, one));
    const headers = one.headers as Record<string, string>;
    expect(new Webhook(secret).verify(one.body, headers)).toEqual(one.event);
    expect(await listening.end('SIGINT')).toBe(0);
    expect(listening.lines()).toHaveLength(4);
  });

  it('npm run listen prints earlier events after a sequence number, with a key from the environment', async () => {
    await developer.createAgent('old');
    const listening = listen(['--server', world.url, '--after', '0'], { DEVELOPER_KEY: key });
    const lines = await listening.until(/ key\.created +keyId=\d+$/m, / agent\.created +0x/);
    expect(lines[0]).toBe(`Events of ${world.url} behind 0. Ctrl-C ends.`);
    expect(lines.join('\n')).not.toContain('->');
    expect(await listening.end('SIGINT')).toBe(0);
  });

  it('npm run listen goes on while its receiver is down, fails or is slow, and still ends at once', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}/`;
    const down = listen(ofServer('--after', '0', '--forward', nowhere));
    const lines = await down.until(/ECONNREFUSED.*ECONNREFUSED/s);
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {4}-> no answer \(ECONNREFUSED\) in \d+ ms$/),
    );
    expect(await down.end('SIGINT')).toBe(0);

    receiver.answers(({ path }, response) => {
      if (path === '/failing') response.writeHead(503).end();
    });
    const failing = listen(ofServer('--after', '0', '--forward', `${receiver.url}/failing`));
    await failing.until(/^ {4}-> 503 in \d+ ms$.*-> 503/ms);
    expect(await failing.end('SIGINT')).toBe(0);

    const slow = listen(ofServer('--after', '0', '--forward', `${receiver.url}/slow`));
    await expect.poll(() => forwarded('/slow').length, { timeout: WAIT_MS }).toBe(1);
    const startedMs = performance.now();
    expect(await slow.end('SIGINT')).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(slow.lines().join('\n')).not.toMatch(/->|at .*\.ts/);
  });

  it('npm run listen waits for a server that is away and says so once', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const listening = listen(['--server', url, '--key', key, '--after', '7']);
    const away = `${url} does not answer (ECONNREFUSED). Start it with npm start, or name another with --server. It is asked again.`;
    expect(await listening.until(/asked again/)).toEqual([away]);
    await using server = await answering(port, { events: [], after: '7', hasMore: false });
    await listening.until(/answers again\.$/m, /behind 7/);
    expect(server.asked[0]).toBe('/v1/developer/events?after=7&limit=100');
    expect(await listening.end('SIGINT')).toBe(0);
    expect(listening.lines()).toEqual([
      away,
      `${url} answers again.`,
      `Events of ${url} behind 7. Ctrl-C ends.`,
    ]);
  });

  it('npm run listen ends with one line that says what to do where it cannot go on', async () => {
    const { agentKey } = await world.fund('not a developer');
    const port = await freePort();
    await using _other = await answering(port, { hello: 'world' });
    const cases: [readonly string[], RegExp][] = [
      [
        ['--server', world.url],
        /^Pass a developer key, svc_live_…, with --key or in DEVELOPER_KEY\.$/,
      ],
      [['--server', world.url, '--key', 'svc_live_no'], /refuses the key: .*Pass a developer key/],
      [['--server', world.url, '--key', agentKey], /refuses the key: .*not an agent key.*Pass a/],
      [['--server', `${world.url}/other`, '--key', key], /has no feed of events \(404 .*--server/],
      [
        ['--server', `http://127.0.0.1:${port}`, '--key', key],
        /has no feed of events \(200 .*--server/,
      ],
      [ofServer('--events', 'no.such'), /^No event is called "no\.such"/],
      [ofServer('--after', 'x'), /^usage: npm run listen/],
      [ofServer('--forward', 'localhost:3000'), /^usage: npm run listen/],
      [ofServer('--what'), /^usage: npm run listen/],
    ];
    for (const [given, expected] of cases) {
      const listening = listen(given);
      expect(await listening.code(), given.join(' ')).toBe(1);
      expect(listening.lines(), given.join(' ')).toEqual([expect.stringMatching(expected)]);
    }
  });
});

/** Something that answers everything with this. */
async function answering(port: number, body: unknown) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.end(JSON.stringify(body));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
