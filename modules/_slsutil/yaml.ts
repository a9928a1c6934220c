import type { ScalarTag, Tags } from 'yaml'
import { YamlWriter } from '../../plugins/outputters/_yaml-writer.ts'

const STEP = 2

/** Write YAML as PyYAML does: sorted, in ASCII, with lists and maps without further ones inside in brackets. */
export function yamlOf(value: unknown, { default_flow_style }: Readonly<Record<string, unknown>>): string {
  const inline = default_flow_style === true ? 'all' : default_flow_style === false ? 'none' : 'innermost'
  return new YamlWriter(STEP, inline, true).document(value)
}

/** Read YAML 1.1 as PyYAML does, but dates as text. */
export async function fromYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, {
    version: '1.1',
    customTags: pythonTags,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw problem
  return document.toJS()
}

/** What version 1.1 takes for a boolean or a number, and PyYAML for text: `y`, `1e3`, `1.5e3`. */
const text: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^(?:[yYnN]|[-+]?[0-9][0-9_]*(?:[eE][-+]?[0-9]+|\.[0-9_]*[eE][0-9]+))$/,
  resolve: (word) => word,
}

/** Keeps 3.0 a float. */
const float: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?$/,
  resolve: (word) => {
    const value = Number.parseFloat(word.replaceAll('_', ''))
    return Number.isInteger(value) ? new Number(value) : value
  },
}

const isDate = (tag: Tags[number]): boolean =>
  typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:timestamp'

const pythonTags = (tags: Tags): Tags => [text, float, ...tags.filter((tag) => !isDate(tag))]
