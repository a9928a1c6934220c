import { expect, test } from 'vitest'
import type { Returner } from '../../core/author/returner.ts'
import { aReturn, returnerWith } from '../harness/returner.ts'
import type { TestServer } from '../harness/server.ts'
import { until } from '../harness/until.ts'

export interface OutageSetup {
  /** Of the returner. */
  readonly name: string
  readonly server: () => Pick<TestServer, 'port' | 'start' | 'kill' | 'pause' | 'resume'>
  /** Open, with time-outs of a second or two. */
  readonly returner: () => Returner
  /** What errors begin with: `Redis` → `Redis at 127.0.0.1:6379: …`. */
  readonly says: string
  /** A configuration that names port 1 of this host, where nobody listens. */
  readonly nowhere: Readonly<Record<string, unknown>>
}

/** What a returner must do while its server hangs or is gone. */
export function outageContract({ name, server, returner, says, nowhere }: OutageSetup): void {
  const at = (port: number) => `${says} at 127.0.0.1:${port}: `
  const saved = () =>
    returner()
      .save(aReturn())
      .then(
        () => true,
        () => false,
      )

  test('rejects while the server hangs, and works again when it answers', async () => {
    await until('a save', saved)
    await server().pause()
    await expect(returner().save(aReturn())).rejects.toThrow(at(server().port))
    server().resume()
    await until('a save', saved)
  })

  test('rejects while the server is gone, and works again when it is back', async () => {
    await server().kill()
    await expect(returner().save(aReturn())).rejects.toThrow(at(server().port))
    await server().start()
    await until('a save', saved)
  })

  test('names the address where it found no server', async () => {
    const lost = await returnerWith(name, nowhere)
    try {
      await expect(lost.save(aReturn())).rejects.toThrow(/ at 127\.0\.0\.1:1: .*ECONNREFUSED/)
    } finally {
      await lost.close?.()
    }
  })
}
