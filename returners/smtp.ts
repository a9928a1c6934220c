/**
 * Sends a mail for each return or event. At least once: a repeated mail has the same Message-ID, and is left out if this process
 * remembers that the server accepted it.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { p, recordJson, returner, UnsavableError } from 'salt-ts'
import { library } from './_library.ts'
import { duration, portNumber } from './_options.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

type Fields = Readonly<Record<string, unknown>>

const BODY = `id: {{ id }}
function: {{ fun }}
function args: {{ fun_args }}
jid: {{ jid }}
return: {{ return }}
`
/** Number of Message-IDs remembered. */
const REMEMBERED = 10_000
/** Reply codes for mails that are refused however often they are sent: too large, or the transaction failed. */
const NEVER = [552, 554]

export default returner({
  options: {
    from: p.string({ minLength: 1 }),
    /** Addresses, separated by commas. */
    to: p.string({ minLength: 1 }),
    host: p.string({ minLength: 1 }),
    port: p.default(portNumber, 25),
    username: p.optional(p.string({ minLength: 1 })),
    password: p.optional(p.secret(p.string())),
    /** Require STARTTLS. With `ssl`, the connection uses TLS from the start. */
    tls: p.default(p.boolean(), false),
    subject: p.default(p.string(), 'Email from Salt'),
    /** Fields of the return to add to the subject, separated by commas. */
    fields: p.default(p.string(), ''),
    /** A file with the text of mails, in which `{{ fun }}` stands for a field. */
    template: p.optional(p.string({ minLength: 1 })),
    /** Seconds to wait for the server. */
    timeout: p.default(duration, 10),
    gpgowner: p.optional(p.string()),
    ...tlsOptions,
  },
  async create({ options }) {
    const { from, to, host, port, username, password, gpgowner } = options
    if (gpgowner)
      throw new Error(
        'smtp.gpgowner is set, but this returner cannot encrypt mails. Remove it to send them unencrypted',
      )
    const { createTransport } = await library('smtp', 'nodemailer', () => import('nodemailer'))
    const template = options.template === undefined ? BODY : await readFile(options.template, 'utf8')
    const names = options.fields.split(',').map((name) => name.trim())
    const timeout = options.timeout * 1000
    const tls = await tlsFacts({ ...options, ssl: true })
    const mailer = createTransport({
      pool: true,
      host,
      port,
      secure: options.ssl,
      requireTLS: options.tls,
      ignoreTLS: !options.tls,
      ...(tls && { tls }),
      ...(username !== undefined && { auth: { user: username, pass: password ?? '' } }),
      connectionTimeout: timeout,
      greetingTimeout: timeout,
      socketTimeout: timeout,
    })
    const taken = new Set<string>()

    function failure(error: Error & { code?: string; responseCode?: number }): Error {
      const late = error.code === 'ETIMEDOUT'
      const message = `smtp at ${host}:${port}: ${late ? `no answer within ${options.timeout} seconds` : error.message}`
      if (NEVER.includes(error.responseCode ?? 0)) return new UnsavableError(message)
      return new Error(message, { cause: error })
    }

    async function send(fields: Fields, key: string): Promise<void> {
      const wanted = names.filter((name) => name in fields).map((name) => textOf(fields[name]))
      const subject = [filled(options.subject, fields), ...wanted].join(' ').replace(/\p{Cc}+/gu, ' ')
      const text = filled(template, fields)
      const digest = createHash('sha256')
        .update(JSON.stringify([key, subject, text]))
        .digest('hex')
      const messageId = `<${digest}@salt-ts>`
      if (taken.has(messageId)) return
      const mail = { from, to, subject, text, messageId, textEncoding: 'base64' } as const
      await mailer.sendMail(mail).catch((error) => {
        throw failure(error)
      })
      taken.add(messageId)
      const [oldest] = taken
      if (taken.size > REMEMBERED && oldest !== undefined) taken.delete(oldest)
    }

    return {
      idempotent: false,
      save: (ret) => send(ret, ''),
      async saveEvents(events, batch) {
        for (const [index, { tag, data }] of events.entries())
          await send({ tag, ...data }, `${batch} ${index}`)
      },
      close: async () => mailer.close(),
    }
  },
})

/** Replace `{{ name }}` by that field; by nothing if it is missing. */
const filled = (template: string, fields: Fields): string =>
  template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(fields, name) ? textOf(fields[name]) : '',
  )

const textOf = (value: unknown): string => (typeof value === 'string' ? value : recordJson(value))
