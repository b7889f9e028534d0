import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Clock } from '../../kernel/clock.ts';

/** Bounds of one mail, and of the mails that a process sends at a time. */
const MAIL_LIMITS = {
  /** Time for a whole mail, from the look-up of the server's name to its last answer. */
  sendMs: 10_000,
  underWay: 8,
  /** Time that a server has to close its end, behind which the socket is destroyed. */
  closeMs: 1_000,
  responseBytes: 64 * 1024,
} as const;

export type Mail = { readonly to: string; readonly subject: string; readonly text: string };

export type MailOutcome =
  | { readonly kind: 'sent' }
  /** `reason` is a clause about the mail server, without an address. `status` is the server's SMTP code. */
  | { readonly kind: 'failed'; readonly reason: string; readonly status: number | undefined };

export interface Mailer {
  /** Hands a mail to the mail server. Never rejects, and takes at most 10 s. */
  send(mail: Mail): Promise<MailOutcome>;
}

export type MailServer = {
  readonly host: string;
  readonly port: number;
  /** True when the connection is TLS from its first byte. */
  readonly isSecure: boolean;
  /** Empty when the server wants no sign-in. */
  readonly user: string;
  readonly password: string;
};

type Deps = {
  readonly clock: Clock;
  readonly from: string;
  readonly server: MailServer;
  /** Certificate of the authority that signed the server's, when no public authority did. */
  readonly ca?: string;
};

/**
 * Creates the sender of mails. Each mail has a connection of its own, which is closed at its deadline: a mail server that hangs
 * holds neither a request nor a socket longer.
 */
export function createMailer(deps: Deps): Mailer {
  let underWay = 0;
  return {
    async send(mail) {
      if (underWay >= MAIL_LIMITS.underWay) return failed('too many mails are being sent');
      underWay += 1;
      try {
        const message = await compose(deps.from, mail).catch(() => undefined);
        if (message === undefined) return failed('the mail could not be written');
        return await deliver(deps, mail.to, message);
      } finally {
        underWay -= 1;
      }
    },
  };
}

const failed = (reason: string, status?: number): MailOutcome => ({
  kind: 'failed',
  reason,
  status,
});

const compose = (from: string, { subject, text, to }: Mail): Promise<Buffer> =>
  new MailComposer({ from, to, subject, text, disableFileAccess: true, disableUrlAccess: true })
    .compile()
    .build();

function deliver(
  { ca, clock, from, server }: Deps,
  to: string,
  message: Buffer,
): Promise<MailOutcome> {
  const { host, isSecure, password, port, user } = server;
  return new Promise((resolve) => {
    const connection = new SMTPConnection({
      host,
      port,
      secure: isSecure,
      // A password never travels in the clear.
      requireTLS: user !== '',
      connectionTimeout: MAIL_LIMITS.sendMs,
      greetingTimeout: MAIL_LIMITS.sendMs,
      socketTimeout: MAIL_LIMITS.sendMs,
      dnsTimeout: MAIL_LIMITS.sendMs,
      socketCloseTimeout: MAIL_LIMITS.closeMs,
      maxResponseSize: MAIL_LIMITS.responseBytes,
      ...(ca !== undefined && { tls: { ca } }),
    });
    const finish = (outcome: MailOutcome) => {
      clock.clearTimeout(timer);
      resolve(outcome);
      connection.close();
    };
    const timer = clock.setTimeout(
      () => finish(failed('the mail server took too long')),
      MAIL_LIMITS.sendMs,
    );
    const send = () => {
      const envelope = { from, to: [to], size: message.length };
      connection.send(envelope, message, (error) =>
        finish(error ? failureOf(error) : { kind: 'sent' }),
      );
    };
    // The listener stays: an error behind the end would otherwise end the process.
    connection.on('error', (error: MailError) => finish(failureOf(error)));
    connection.once('end', () => finish(failed('the mail server closed the connection')));
    connection.connect(() => {
      if (user === '') return send();
      const credentials = { user, pass: password };
      connection.login({ credentials }, (error) => (error ? finish(failureOf(error)) : send()));
    });
  });
}

type MailError = {
  readonly code?: string | undefined;
  readonly responseCode?: number | undefined;
};

/** Reasons by the code of an error. The text of the error is not passed on, since it may have an address or a password. */
const REASONS: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refused the sign-in',
  EENVELOPE: 'the mail server refused the sender or the address',
  EMESSAGE: 'the mail server refused the mail',
  EDNS: 'the name of the mail server is not known',
  ECONNECTION: 'the mail server cannot be reached',
  ESOCKET: 'the connection to the mail server failed',
  ETIMEDOUT: 'the mail server took too long',
  ETLS: 'the mail server offers no TLS, or its certificate is not valid',
};

const failureOf = ({ code = '', responseCode }: MailError): MailOutcome =>
  failed(REASONS[code] ?? 'the mail server refused the mail', responseCode);
