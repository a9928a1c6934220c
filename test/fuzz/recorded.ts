import { bytes, vectors } from '../harness/vectors.ts'

/** Messages that Python Salt sent, as seeds: those of a file of golden data whose members have these names. */
export function recordedMessages(file: string, members: readonly string[], maxBytes = 1500): Buffer[] {
  const found = new Map<string, Buffer>()
  collect(vectors<unknown>(file), (name, text) => {
    const message = bytes(text)
    if (members.includes(name) && message.length <= maxBytes) found.set(text, message)
  })
  return [...found.values()]
}

function collect(value: unknown, take: (name: string, text: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string') take(name, member)
    else if (Array.isArray(member) && member.every((each) => typeof each === 'string'))
      for (const each of member) take(name, each)
    else collect(member, take)
  }
}
