import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIPv6 } from 'node:net'
import { CommandExecutionError } from 'salt-ts'
import { linesOf } from './files.ts'

/** A host name or address without characters that neither has. @throws CommandExecutionError for one that is an option */
export function hostName(text: string): string {
  const name = text.slice(0, 255).replace(/[^A-Za-z0-9._:-]/g, '')
  if (name !== '' && !name.startsWith('-')) return name
  throw new CommandExecutionError(`'${text}' is not the name or address of a host`)
}

export interface Endpoint {
  readonly host: string
  /** A number, or the name of a service. */
  readonly port: number | string
  readonly proto: string
  readonly family: string | undefined
  /** Seconds. */
  readonly timeout: number
}

/** Try to connect by TCP, or to get an answer to a datagram. Returns Salt's `result` and `comment`. */
export async function tryConnect(
  { host, port, proto: given, family, timeout }: Endpoint,
  signal: AbortSignal,
) {
  const proto = given === 'udp' ? 'udp' : 'tcp'
  const version = family === 'ipv4' ? 4 : family === 'ipv6' ? 6 : 0
  const found = await lookup(hostName(host), { family: version }).catch(() => undefined)
  const isOtherFamily = version !== 0 && found?.family !== version
  const number = await portNumber(port, proto)
  if (!found || isOtherFamily || number === undefined)
    return { result: false, comment: `Unable to resolve host ${host} on ${proto} port ${port}` }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)])
  const attempt = proto === 'udp' ? askByUdp : openTcp
  const result = number < 65_536 && (await attempt(found.address, number, limit).catch(() => false))
  const outcome = result ? 'Successfully connected' : 'Unable to connect'
  return { result, comment: `${outcome} to ${host} (${found.address}) on ${proto} port ${port}` }
}

/** Return the number of a port, for the name of a service that of /etc/services. */
async function portNumber(port: number | string, proto: string): Promise<number | undefined> {
  if (Number.isInteger(Number(port))) return Number(port)
  for (const line of await linesOf('/etc/services')) {
    const [name, place = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    const [number, protocol] = place.split('/')
    if (protocol === proto && [name, ...aliases].includes(String(port))) return Number(number)
  }
  return undefined
}

/** Whether a TCP connection to an address can be made before the signal. */
export const takesConnections = (address: string, port: number, signal: AbortSignal): Promise<boolean> =>
  openTcp(address, port, signal).catch(() => false)

async function openTcp(address: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host: address, port })
  try {
    await once(socket, 'connect', { signal })
    return true
  } finally {
    socket.destroy()
  }
}

async function askByUdp(address: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    socket.send(randomBytes(16), port, address)
    await once(socket, 'message', { signal })
    return true
  } finally {
    socket.close()
  }
}

/** Return the digits of a hardware address, which may be separated by any character. */
export const macDigits = (mac: string): string =>
  mac.length === 17 ? mac.replaceAll(mac.charAt(2), '') : mac

/** Send the magic packet that wakes the computer with a hardware address. */
export async function wake(mac: string, broadcast: string, port: number): Promise<void> {
  const bytes = Buffer.from(macDigits(mac), 'hex')
  if (bytes.length !== 6) throw new CommandExecutionError(`Invalid MAC address: '${mac}'`)
  const socket = createSocket('udp4')
  try {
    socket.bind()
    await once(socket, 'listening')
    socket.setBroadcast(true)
    const packet = Buffer.concat([Buffer.alloc(6, 0xff), ...Array<Buffer>(16).fill(bytes)])
    await new Promise<void>((resolve, reject) =>
      socket.send(packet, port, broadcast, (error) => (error ? reject(error) : resolve())),
    )
  } finally {
    socket.close()
  }
}
