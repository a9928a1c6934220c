/** Sends returns and events to syslog, as one line of JSON each: to the local socket, or to a server over UDP, TCP or TLS. */
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { p, recordJson, returner } from 'salt-ts'
import { duration, portNumber } from './_options.ts'
import { FACILITIES, LEVELS, type Origin, rfc3164, rfc5424 } from './_syslog-message.ts'
import { overSocket, overStream, overUdp } from './_syslog-send.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

export default returner({
  options: {
    level: p.default(p.enum(...LEVELS), 'LOG_INFO'),
    facility: p.default(p.enum(...FACILITIES), 'LOG_USER'),
    tag: p.default(p.string({ pattern: '^[!-~]{1,32}$' }), 'salt-minion'),
    /** Options of `openlog`; only LOG_PID has an effect. */
    options: p.default(
      p.array(p.enum('LOG_PID', 'LOG_CONS', 'LOG_NDELAY', 'LOG_ODELAY', 'LOG_NOWAIT', 'LOG_PERROR')),
      [],
    ),
    /** Local socket. */
    socket: p.default(p.string({ minLength: 1 }), '/dev/log'),
    /** Server, instead of the local socket. */
    host: p.optional(p.string({ minLength: 1 })),
    /** Default: 514, or 6514 with TLS. */
    port: p.optional(portNumber),
    protocol: p.default(p.enum('udp', 'tcp', 'tls'), 'udp'),
    format: p.default(p.enum('rfc5424', 'rfc3164'), 'rfc5424'),
    /** Time limit in seconds. */
    timeout: p.default(duration, 10),
    ...tlsOptions,
  },
  async create({ options }) {
    const { socket, host, protocol, timeout } = options
    const port = options.port ?? (protocol === 'tls' ? 6514 : 514)
    const tls = await tlsFacts({ ...options, ssl: protocol === 'tls' })
    const origin: Origin = { ...options, withPid: options.options.includes('LOG_PID') }
    const format = options.format === 'rfc3164' ? rfc3164 : rfc5424

    async function send(lines: readonly string[]): Promise<void> {
      if (host === undefined) return overSocket(socket, origin, lines, timeout)
      const messages = lines.map((line) => format(origin, line))
      if (protocol === 'udp') return overUdp(host, port, messages)
      const connection = tls ? connectTls({ host, port, ...tls }) : connect({ host, port })
      return overStream(connection, messages, timeout)
    }

    async function save(records: readonly unknown[]): Promise<void> {
      const place = host === undefined ? socket : `${host}:${port}`
      await send(records.map(recordJson)).catch((error: Error) => {
        error.message = `syslog at ${place}: ${error.message}`
        throw error
      })
    }

    return {
      idempotent: false,
      save: (ret) => save([ret]),
      saveBatch: save,
      saveEvents: save,
    }
  },
})
