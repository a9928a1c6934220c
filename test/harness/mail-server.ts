import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Mail {
  readonly to: readonly string[]
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  /** Who has sent it, of those who have said so. */
  readonly user: string | undefined
  readonly withTls: boolean
}

/** A server that keeps the mails it is sent, on loopback. */
export async function mailServer(options: SMTPServerOptions = {}) {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      password === 'right' ? done(null, { user: username }) : done(new Error('Invalid username or password')),
    async onData(stream, { envelope, user, secure }, done) {
      const to = envelope.rcptTo.map(({ address }) => address)
      mails.push({ to, user: user as string | undefined, withTls: secure, ...partsOf(await text(stream)) })
      done()
    },
    ...options,
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  server.on('error', () => undefined) // Of connections that clients break off.
  const { port } = server.server.address() as AddressInfo
  return { port, mails, close: () => new Promise<void>((done) => void server.close(() => done())) }
}

/** Of a mail that is a text and nothing else. */
function partsOf(mail: string): Pick<Mail, 'headers' | 'text'> {
  const [head = '', body = ''] = mail.split(/\r\n\r\n(.*)/s)
  const lines = head.replace(/\r\n\s+/g, ' ').split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const [name = '', value = ''] = line.split(/: (.*)/s)
    return [name.toLowerCase(), value]
  })
  const byName = new Map(headers)
  const encoding = byName.get('content-transfer-encoding') === 'base64' ? 'base64' : 'utf8'
  return { headers: byName, text: Buffer.from(body, encoding).toString().trimEnd() }
}
