/** What returners use of Elasticsearch, in memory: indexes that refuse what does not go with their mapping, searches. */
import { type Asked, httpServer, type Told } from './http-server.ts'

type Fields = Record<string, unknown>

interface Index {
  readonly documents: Map<string, Fields>
  /** Types of fields by path, as the first document had them. */
  readonly types: Map<string, string>
  readonly settings: unknown
}

interface Query {
  readonly match_all?: object
  readonly range?: { readonly '@timestamp': { readonly lt: string } }
  readonly bool?: { readonly filter: readonly [{ readonly term: Fields }] }
}

const MOST_FIELDS = 1000
const MOST_LEVELS = 20
const LARGEST = 2 ** 63

export async function elasticsearchDouble() {
  const indexes = new Map<string, Index>()
  const aliases = new Map<string, string>()
  const at = (name: string) => indexes.get(aliases.get(name) ?? name)

  function make(name: string, { settings, aliases: names = {} }: Fields): Told {
    if (indexes.has(name)) return failed(400, 'resource_already_exists_exception')
    indexes.set(name, { documents: new Map(), types: new Map(), settings })
    for (const alias of Object.keys(names as object)) aliases.set(alias, name)
    return json({ acknowledged: true })
  }

  function bulk(lines: readonly Fields[]): Told {
    const items: unknown[] = []
    for (let line = 0; line < lines.length; line += 2) {
      const { _index, _id } = (lines[line] as Fields).index as { _index: string; _id: string }
      const document = lines[line + 1] ?? {}
      const index = at(_index)
      const reason = index ? mapped(index, document) : 'no such index'
      if (!reason) index?.documents.set(_id, document)
      items.push({
        index: reason
          ? { status: 400, error: { type: 'document_parsing_exception', reason } }
          : { status: 201 },
      })
    }
    return json({ items })
  }

  /** `salt-*,-salt-jobs*`, as there; names of aliases count. */
  function selected(expression: string): readonly Index[] {
    const names = new Set<string>()
    for (const part of decodeURIComponent(expression).split(',')) {
      const pattern = new RegExp(`^${part.replace(/^-/, '').replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
      for (const name of [...indexes.keys(), ...aliases.keys()].filter((name) => pattern.test(name))) {
        const real = aliases.get(name) ?? name
        if (part.startsWith('-')) names.delete(real)
        else names.add(real)
      }
    }
    return [...names].flatMap((name) => indexes.get(name) ?? [])
  }

  function search(expression: string, { query, size, sort, search_after }: Fields): Told {
    const [[field = '', { order }] = ['', { order: 'asc' }]] = Object.entries(
      (sort as Record<string, { order: string }>[])[0] ?? {},
    )
    const key = (document: Fields) => String(document[field.replace('.keyword', '')])
    const direction = order === 'asc' ? 1 : -1
    const compare = (one: string, other: string) => direction * (one < other ? -1 : one > other ? 1 : 0)
    const [after] = (search_after as string[] | undefined) ?? []
    const hits = selected(expression)
      .flatMap(({ documents }) => [...documents.values()])
      .filter((document) => matches(document, query as Query))
      .filter((document) => after === undefined || compare(key(document), after) > 0)
      .sort((one, other) => compare(key(one), key(other)))
      .slice(0, size as number)
      .map((document) => ({ _source: document, sort: [key(document)] }))
    return json({ hits: { hits } })
  }

  function deleteByQuery(expression: string, { query }: Fields): Told {
    for (const { documents } of selected(expression))
      for (const [id, document] of documents) if (matches(document, query as Query)) documents.delete(id)
    return json({ deleted: 1 })
  }

  function answer({ method, path, headers, body }: Asked): Told {
    if (headers.authorization !== `Basic ${Buffer.from('salt:right').toString('base64')}`)
      return failed(401, 'security_exception')
    const lines = body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Fields)
    const [, name = '', action = '', id = ''] = path.split('/')
    if (name === '_bulk') return bulk(lines)
    if (method === 'HEAD') return { status: at(decodeURIComponent(name)) ? 200 : 404 }
    if (method === 'PUT') return make(decodeURIComponent(name), lines[0] ?? {})
    if (action === '_refresh') return json({})
    if (action === '_search') return search(name, lines[0] ?? {})
    if (action === '_delete_by_query') return deleteByQuery(name, lines[0] ?? {})
    const document = at(decodeURIComponent(name))?.documents.get(decodeURIComponent(id))
    return document ? json({ _source: document }) : { status: 404, text: '{"found": false}' }
  }

  return { ...(await httpServer(answer)), at, aliases }
}

const json = (value: unknown): Told => ({ text: JSON.stringify(value) })
const failed = (status: number, type: string): Told => ({ status, text: JSON.stringify({ error: { type } }) })

function matches(document: Fields, { range, bool }: Query): boolean {
  if (range) return String(document['@timestamp']) < range['@timestamp'].lt
  const [[field = '', wanted] = []] = Object.entries(bool?.filter[0].term ?? {})
  return field === '' || document[field.replace('.keyword', '')] === wanted
}

/** Why the document does not go with what the index has; else it is taken note of. */
function mapped({ types }: Index, document: Fields): string | undefined {
  const found = new Map<string, string>()
  const reason = look(document, '', found)
  if (reason) return reason
  for (const [path, type] of found) {
    const had = types.get(path)
    const isText = had === 'text' && type !== 'object'
    if (had !== undefined && had !== type && !isText)
      return `failed to parse field [${path}] of type [${had}]`
  }
  if (new Set([...types.keys(), ...found.keys()]).size > MOST_FIELDS)
    return `Limit of total fields [${MOST_FIELDS}] has been exceeded`
  for (const [path, type] of found) if (!types.has(path)) types.set(path, type)
  return undefined
}

function look(value: unknown, path: string, found: Map<string, string>): string | undefined {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return value.map((member) => look(member, path, found)).find(Boolean)
  const type = typeof value === 'string' ? 'text' : typeof value
  if (type === 'number' && Math.abs(value as number) >= LARGEST) return `Numeric value out of range of long`
  if (path !== '') {
    if (found.get(path) === undefined) found.set(path, type)
    else if (found.get(path) !== type) return `failed to parse field [${path}]`
  }
  if (type !== 'object') return undefined
  if (path.split('.').length > MOST_LEVELS) return `Limit of mapping depth [${MOST_LEVELS}] has been exceeded`
  for (const [name, member] of Object.entries(value as object)) {
    if (name === '') return 'field name cannot be an empty string'
    const reason = look(member, path === '' ? name : `${path}.${name}`, found)
    if (reason) return reason
  }
  return undefined
}
