import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Certificate } from './certificate.ts'
import { freePort } from './ports.ts'
import { startServer, type TestServer } from './server.ts'

/** What a syslog server made of a message. */
interface SyslogLine {
  readonly priority: string
  readonly tag: string
  readonly pid: string
  readonly text: string
}

export interface Rsyslog extends TestServer {
  /** For TCP and UDP is `port`. */
  readonly tlsPort: number
  readonly socket: string
  lines(): Promise<readonly SyslogLine[]>
}

/** rsyslog with a file of its own: TCP and UDP on one port, TLS on another, a datagram socket. */
export async function startRsyslog({ cert, key }: Certificate): Promise<Rsyslog> {
  const tlsPort = await freePort()
  const server = await startServer('rsyslogd', ({ port, folder }) => {
    writeFileSync(
      join(folder, 'conf'),
      `global(workDirectory="${folder}" maxMessageSize="16m" parser.escapeControlCharactersOnReceive="off"
        defaultNetstreamDriverCAFile="${cert}" defaultNetstreamDriverCertFile="${cert}" defaultNetstreamDriverKeyFile="${key}")
      module(load="imuxsock" sysSock.use="off")
      input(type="imuxsock" socket="${join(folder, 'log')}" useSysTimeStamp="off" useSpecialParser="on")
      module(load="imudp")
      input(type="imudp" address="127.0.0.1" port="${port}")
      module(load="imtcp" maxFrameSize="16000000")
      input(type="imtcp" address="127.0.0.1" port="${port}")
      input(type="imtcp" address="127.0.0.1" port="${tlsPort}" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
      template(name="line" type="string" string="%pri% %programname% %procid% %msg:::drop-last-lf%\\n")
      action(type="omfile" file="${join(folder, 'lines')}" template="line")`,
    )
    return ['-n', '-f', join(folder, 'conf'), '-i', join(folder, 'pid')]
  })
  return {
    ...server,
    tlsPort,
    socket: join(server.folder, 'log'),
    async lines() {
      const text = await readFile(join(server.folder, 'lines'), 'utf8').catch(() => '')
      return [...text.matchAll(/^(\S+) (\S+) (\S+) +(.*)$/gm)].map(
        ([, priority = '', tag = '', pid = '', text = '']) => ({ priority, tag, pid, text }),
      )
    },
  }
}
