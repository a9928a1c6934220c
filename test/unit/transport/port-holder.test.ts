import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { addressInUse, findPortHolder } from '../../../core/transport/port-holder.ts'

describe('the holder of a port', () => {
  it('is found among other processes, without the arguments that may hold secrets', async () => {
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

  it('is this process for a port of its own, over IPv6 as well', async () => {
    const server = createServer().listen(0, '::')
    await once(server, 'listening')
    const address = server.address()
    expect((await findPortHolder(typeof address === 'object' ? (address?.port ?? 0) : 0))?.pid).toBe(
      process.pid,
    )
    server.close()
  })

  it('is nobody for a free port', async () => {
    expect(await findPortHolder(1)).toBeUndefined()
  })
})
