import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandText } from '../../../core/process/holders.ts'
import { claimSocketPath } from '../../../core/transport/local-address.ts'
import { addressInUse, findPortHolder, findSocketHolder } from '../../../core/transport/port-holder.ts'

describe('the holder of a port', () => {
  test('is found among other processes, without arguments that may be secrets', async () => {
    const program =
      'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))'
    const child = spawn(process.execPath, ['-e', program, 's3cret'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(child.stdout, 'data')
    const port = Number(line)
    const holder = await findPortHolder(port)
    expect(holder?.pid).toBe(child.pid)
    expect(holder?.command).toContain(process.execPath)
    expect(holder?.command).not.toContain('s3cret')
    expect(addressInUse('127.0.0.1', port, holder).message).toContain(`process ${child.pid}`)
    child.kill()
    await once(child, 'exit')
  })

  test('is named by its interpreter and script, without options', () => {
    const shown = (line: string) => commandText(line.split(' '))
    expect(shown('node --max-semi-space-size=1 --v8-pool-size=1 /opt/bin/salt-master -l debug')).toBe(
      'node /opt/bin/salt-master',
    )
    expect(shown('/usr/bin/python3 /usr/bin/salt-master -d')).toBe('/usr/bin/python3 /usr/bin/salt-master')
    expect(shown('node -e s3cret x')).toBe('node')
    expect(shown('salt-master MWorker-0')).toBe('salt-master MWorker-0')
    expect(shown('nginx -g x')).toBe('nginx -g')
  })

  test('is found for a unix socket, and named when another process tries to listen on it', async () => {
    const path = join(tmpdir(), `salt-holder-${process.pid}.sock`)
    const program = 'require("net").createServer().listen(process.argv[1], () => console.log("up"))'
    const child = spawn(process.execPath, ['-e', program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    expect((await findSocketHolder(path))?.pid).toBe(child.pid)
    await expect(claimSocketPath(path)).rejects.toThrow(
      `Cannot listen on ${path}: process ${child.pid} (${process.execPath}) already does.`,
    )
    child.kill()
    await once(child, 'exit')
    expect(await findSocketHolder(path)).toBeUndefined()
    await claimSocketPath(path)
  })

  test('is this process for a port of its own, over IPv6 as well', async () => {
    const server = createServer().listen(0, '::')
    await once(server, 'listening')
    const address = server.address()
    expect((await findPortHolder(typeof address === 'object' ? (address?.port ?? 0) : 0))?.pid).toBe(
      process.pid,
    )
    server.close()
  })

  test('is undefined for a free port', async () => {
    expect(await findPortHolder(1)).toBeUndefined()
  })
})
