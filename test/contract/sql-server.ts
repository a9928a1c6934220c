import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../core/author/returner.ts'
import type { SqlDatabase } from '../../returners/_sql-database.ts'
import { type Need, needs } from '../harness/needs.ts'
import { aReturn } from '../harness/returner.ts'
import type { TestServer } from '../harness/server.ts'

type Options = Readonly<Record<string, unknown>>

export interface SqlServerSetup {
  readonly needs: Need
  /** As errors call it: `MySQL`. */
  readonly says: string
  /** With tables for `open`. */
  readonly start: () => Promise<TestServer>
  /** With time-outs of two seconds. */
  readonly open: (server: TestServer, options?: Options) => Promise<Returner>
  /** The same connection without its returner. */
  readonly database: (server: TestServer) => Promise<SqlDatabase>
  /** Its option that is the password, and what the server says to a wrong one. */
  readonly password: string
  readonly refusal: string
}

type Connect = (options?: Options) => Promise<Returner>

/** What a returner must do whose database is a server of its own; `more`: what only this one must. */
export function sqlServerContract(
  { needs: need, says, start, open, database, password, refusal }: SqlServerSetup,
  more: (connect: Connect, server: () => TestServer) => void,
): void {
  describe(`a server of ${says}`, needs(need), () => {
    let server: TestServer
    const opened: Returner[] = []
    const connect: Connect = async (options) => {
      const returner = await open(server, options)
      opened.push(returner)
      return returner
    }
    beforeAll(async () => {
      server = await start()
      await (await connect()).migrate?.()
    })
    afterAll(async () => {
      await Promise.all(opened.map((returner) => returner.close?.()))
      await server.drop()
    })

    test('names host, port and the message of the server about a wrong password, but not the password', async () => {
      const refused = await connect({ [password]: 'wrong horse' })
      const error: unknown = await refused.save(aReturn()).catch((thrown: unknown) => thrown)
      expect(String(error)).toContain(`${says} at 127.0.0.1:${server.port}: ${refusal}`)
      expect(String(error)).not.toContain('horse')
    })

    more(connect, () => server)

    test('gives up on a server that no longer answers, and stores the return once when it is back', async () => {
      const [connected, other] = [await connect(), await connect()]
      const ret = aReturn({ jid: '20261122050000000002' })
      await connected.save(aReturn())
      await server.pause()
      try {
        await Promise.all(
          [connected, other].map((returner) =>
            expect(returner.save(ret)).rejects.toThrow(`${says} at 127.0.0.1:${server.port}: `),
          ),
        )
      } finally {
        server.resume()
      }
      await connected.save(ret)
      expect(await other.getJid?.(ret.jid)).toEqual([ret])
    })

    test('connects again after the server was gone', async () => {
      const returner = await connect()
      await returner.save(aReturn({ return: 'before' }))
      await server.kill()
      await expect(returner.save(aReturn({ return: 'meanwhile' }))).rejects.toThrow(`${says} at 127.0.0.1`)
      await expect(returner.save(aReturn({ return: 'meanwhile' }))).rejects.toThrow('ECONNREFUSED')
      await server.start()
      await returner.save(aReturn({ return: 'after' }))
      expect(await returner.getJid?.(aReturn().jid)).toEqual([aReturn({ return: 'after' })])
    })

    test('survives a server that disconnects between two statements', async () => {
      const raw = await database(server)
      await expect(
        raw.transaction(async (query) => {
          await query('select 1')
          await server.kill()
          await delay(100) // the loss is noticed while nothing is asked
          await query('select 1')
        }),
      ).rejects.toThrow(`${says} at 127.0.0.1`)
      await raw.close()
      await server.start()
    })
  })
}
