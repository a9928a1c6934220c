/** Addresses at which containers are reached, from what `docker.ps host=True` sent to the mine. */
import { entriesOf, isMapping } from '../_values/traverse.ts'

/** What one docker host sent: its containers, and the host itself under `host`. */
type Sent = ReadonlyMap<string, unknown>

/** Addresses by private port, or pairs of address and container id; each by what it says. */
type Ports = Map<unknown, Map<string, unknown>>

export interface Choice {
  /** Interfaces of the hosts to use; none: all. */
  readonly interfaces: readonly string[]
  readonly isWanted: (address: string) => boolean
  readonly withId: boolean
}

/** Return the addresses of published ports by image: a port that listens everywhere has all wanted addresses of its host. */
export function proxiesOf(hosts: readonly unknown[], choice: Choice): Record<string, unknown> {
  const images = new Map<string, Ports>()
  for (const sent of hosts.filter(isMapping).map((host) => new Map(entriesOf(host)))) {
    const own = addressesOf(sent, choice)
    for (const container of containersOf(sent)) {
      const image = String(container.get('Image'))
      const ports = images.get(image) ?? new Map()
      images.set(image, ports)
      addPorts(container, own, ports, choice)
    }
  }
  return Object.fromEntries(
    [...images].map(([image, ports]) => [image, ports.size > 0 ? { ipv4: listed(ports) } : {}]),
  )
}

const listed = (ports: Ports): Map<unknown, unknown[]> =>
  new Map([...ports].map(([port, places]) => [port, [...places.values()]]))

const containersOf = (sent: Sent): Sent[] =>
  [...sent].filter(([name]) => name !== 'host').flatMap(([, container]) => fieldsOf(container))

/** Return the map of a value as a list, which is empty for anything else. */
const fieldsOf = (value: unknown): Sent[] => (isMapping(value) ? [new Map(entriesOf(value))] : [])

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function addressesOf(sent: Sent, { interfaces, isWanted }: Choice): string[] {
  const known = fieldsOf(sent.get('host')).flatMap((host) => fieldsOf(host.get('interfaces')))
  const used = known.flatMap((all) =>
    [...all].filter(([name]) => interfaces.length === 0 || interfaces.includes(name)),
  )
  const found = used
    .flatMap(([, one]) => fieldsOf(one).flatMap((facts) => listOf(facts.get('inet'))))
    .flatMap((inet) => fieldsOf(inet).map((facts) => String(facts.get('address'))))
  return [...new Set(found)].filter(isWanted)
}

function addPorts(container: Sent, own: readonly string[], ports: Ports, { withId }: Choice): void {
  const id = fieldsOf(container.get('Info'))[0]?.get('Id')
  for (const port of listOf(container.get('Ports')).flatMap(fieldsOf)) {
    for (const address of listening(port.get('IP'), own)) {
      const place = `${address}:${port.get('PublicPort')}`
      const known = ports.get(port.get('PrivatePort')) ?? new Map<string, unknown>()
      ports.set(port.get('PrivatePort'), known)
      const found = withId ? [place, id] : place
      known.set(JSON.stringify(found), found)
    }
  }
}

/** Return the addresses of a port: a published one has an address, `0.0.0.0` for all of the host. */
function listening(address: unknown, own: readonly string[]): readonly string[] {
  if (address === '0.0.0.0') return own
  return address ? [String(address)] : []
}
