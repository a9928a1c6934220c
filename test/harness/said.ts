import { connect } from 'node:net'

/** What a server on loopback answers to a text, up to where it matches `end`. */
export function said(port: number, text: string, end: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`The server closed the connection after: ${answer}`)))
    socket.on('data', (bytes) => {
      answer += bytes
      if (!end.test(answer)) return
      resolve(answer)
      socket.destroy()
    })
  })
}
