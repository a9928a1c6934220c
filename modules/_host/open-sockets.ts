/** Readers of the lists of sockets that netstat and ss print, in the shape of `network.netstat`. */

type Row = Record<string, unknown>

/** Read the output of `netstat -tulpnea`. */
export function readNetstat(text: string): Row[] {
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  return rows.flatMap((words) => {
    const [proto = '', recv, send, local, remote, ...rest] = words
    if (!/^(tcp|udp)/.test(proto)) return []
    // A datagram socket has a state only if it is connected.
    const hasState = !/^\d+$/.test(rest[0] ?? '')
    const [user, inode, program] = hasState ? rest.slice(1) : rest
    return [
      {
        proto,
        'recv-q': recv,
        'send-q': send,
        'local-address': local,
        'remote-address': remote,
        ...(proto.startsWith('tcp') && { state: rest[0] }),
        user,
        inode,
        program,
      },
    ]
  })
}

/** Read the output of `ss -tulpnea`. */
export function readSs(text: string): Row[] {
  return text.split('\n').flatMap((line) => {
    const [proto = '', state, recv, send, local, remote] = line.trim().split(/\s+/)
    if (!/^(tcp|udp)/.test(proto)) return []
    return [
      {
        proto,
        'recv-q': recv,
        'send-q': send,
        'local-address': local,
        'remote-address': remote,
        ...(proto.startsWith('tcp') && { state: state === 'ESTAB' ? 'ESTABLISHED' : state }),
        user: /\buid:(\d+)/.exec(line)?.[1] ?? 0,
        inode: /\bino:(\d+)/.exec(line)?.[1] ?? 0,
        program: /users:\(\("([^"]*)"/.exec(line)?.[1] ?? '',
      },
    ]
  })
}

/** Read the output of traceroute: a map for each hop, an empty one for a line that has another form. */
export function readTraceroute(text: string): Row[] {
  const lines = text.split('\n').filter((line) => line.includes(' ') && !line.startsWith('traceroute'))
  return lines.map((line) => {
    const [, count = '', rest = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? []
    if (/^\*\s+\*\s+\*/.test(rest)) return { count: Number(count), hostname: '*' }
    const [, hostname, ip, times = ''] = /^(\S+)\s+\(([^)]*)\)\s+(.*)$/.exec(rest) ?? []
    const [ms1, ms2, ms3] = [...times.matchAll(/([\d.]+) ms/g)].map(([, ms]) => Number(ms))
    return ms3 === undefined ? {} : { count: Number(count), hostname, ip, ms1, ms2, ms3 }
  })
}
