import { expect, test } from 'vitest'
import type { ReturnerAdmin, ReturnerStatus } from '../../../core/author/master.ts'
import { run } from '../../../core/testing/index.ts'
import { status } from '../../../runners/returner.ts'

const row = (returner: string, written: number): ReturnerStatus => ({
  returner,
  written,
  state: 'up',
  queued: 0,
  rate: 0,
  failures: 0,
  dead: 0,
  aside: [],
})

test('a returner with jobs and events is listed with both', async () => {
  const rows = [row('redis', 1), row('mysql', 2), row('redis', 3)]
  const returners = { status: async () => rows } as Partial<ReturnerAdmin> as ReturnerAdmin
  const { result } = await run(status, {}, { master: { returners } })
  expect(result).toMatchObject({
    redis: { written: 1 },
    mysql: { written: 2 },
    'redis (events)': { written: 3 },
  })
})
