/** TCP connections to a ZeroMQ port that do not, or not quite, speak ZMTP. */
import { connect, type Socket } from 'node:net'

export function openConnection(port: number): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1', () => done(socket))
    socket.on('error', fail)
    socket.resume()
  })
}

export const closed = (socket: Socket): Promise<void> =>
  new Promise((done) => {
    if (socket.destroyed) done()
    else socket.once('close', () => done())
  })

/** ZMTP 3.0: signature, version and mechanism of a client. */
export function zmtpGreeting(mechanism: string): Buffer {
  const start = Buffer.from('ff00000000000000017f0300', 'hex')
  return Buffer.concat([start, Buffer.from(mechanism.padEnd(20, '\0')), Buffer.alloc(32)])
}

/** The command by which a peer without security says what socket it is. */
export function zmtpReady(type: string): Buffer {
  const sized = (width: number, text: string) => {
    const size = Buffer.alloc(width)
    size.writeUIntBE(text.length, 0, width)
    return Buffer.concat([size, Buffer.from(text)])
  }
  const body = Buffer.concat([sized(1, 'READY'), sized(1, 'Socket-Type'), sized(4, type)])
  return Buffer.concat([Buffer.from([4, body.length]), body])
}
