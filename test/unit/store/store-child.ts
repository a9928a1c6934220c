/** Run by the tests as a process of its own: `store-child.ts <path> <what> [argument]`. Prints one line per step. */
import { openStore } from '../../../core/store/index.ts'

const [path = '', what = '', argument = ''] = process.argv.slice(2)
const store = openStore(path)
const print = (line: string) => process.stdout.write(`${line}\n`)

if (what === 'count') {
  const changes = Array.from({ length: Number(argument) }, () =>
    store.change((records) => records.put(['count'], Number(records.get(['count']) ?? 0) + 1)),
  )
  await Promise.all(changes)
}

if (what === 'open-and-close') {
  await store.close()
  for (let n = 0; n < Number(argument); n++) {
    const again = openStore(path)
    again.get(['a'])
    await again.close()
  }
}

if (what === 'write-for-ever') {
  for (let n = 0; ; n++) {
    await Promise.all([0, 1, 2].map((part) => store.put([n, part], { n, text: 'x'.repeat(300) })))
    print(`acknowledged ${n}`)
  }
}

if (what === 'write-from') {
  for (let n = Number(argument); ; n++) {
    await store.put([n], n)
    print(String(n))
  }
}

if (what === 'write-watched') {
  for (let n = 0; n < Number(argument); n++) {
    print(`asked ${n}`)
    await store.put([n], Buffer.alloc(5000))
    print(`acknowledged ${n}`)
  }
}

if (what === 'write-through-failures') {
  for (let n = 0; n < Number(argument); n++) {
    const outcome = await store.put([n], n).then(
      () => 'acknowledged',
      () => 'failed',
    )
    print(`${outcome} ${n}`)
  }
}

/** Leaves while the other thread, which has the lock of the store, waits for this one. */
if (what === 'leave-amid-commit')
  await store.change((records) => {
    records.put(['after'], 2)
    process.exit(0)
  })

if (what === 'fail-amid-commit') {
  void store.put(['after'], 2)
  await new Promise((done) => setImmediate(done))
  throw new Error('nobody expects this')
}

if (what === 'hold-lock') {
  await store.change(() => {
    print('holding')
    process.kill(process.pid, 'SIGSTOP')
  })
}

await store.close()
