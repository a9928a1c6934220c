/** Run by the tests as a process of its own: `audit-child.ts <folder> <what> [argument]`. */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { AuditLog, auditStorePath } from '../../../../core/auth/audit/index.ts'
import { openStore } from '../../../../core/store/index.ts'

const [folder = '', what = '', argument = ''] = process.argv.slice(2)
const config = { audit_log: join(folder, 'audit.log'), cachedir: folder }
const entry = { act: 'publish', verdict: 'allowed', user: argument, fun: 'test.ping' } as const

if (what === 'write') {
  const log = AuditLog.open(config, (problem) => writeSync(2, `${problem}\n`))
  for (let n = 0; ; n++) {
    await Promise.all([0, 1, 2].map((part) => log.record({ ...entry, args: [n, part, 'x'.repeat(2000)] })))
    process.stdout.write(`${n}\n`)
  }
}

if (what === 'hold') {
  const store = openStore(auditStorePath(config), { synced: false })
  await store.change(() => {
    process.stdout.write('held\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
}
