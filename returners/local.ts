/** Prints returns and events as JSON, one per line, to check what is returned (`salt-call --return local test.ping`). */
import { recordJson, returner } from 'salt-ts'

const print = (records: readonly unknown[]): Promise<void> =>
  new Promise((done, fail) => {
    const lines = records.map((record) => `${recordJson(record)}\n`).join('')
    process.stdout.write(lines, (error) => (error ? fail(error) : done()))
  })

export default returner({
  options: {},
  create: () => ({
    idempotent: false,
    save: (ret) => print([ret]),
    saveBatch: print,
    saveEvents: print,
  }),
})
