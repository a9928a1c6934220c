import type { Environment } from './environment.ts'
import { TemplateError } from './errors.ts'
import type { Template } from './syntax/nodes.ts'
import { parse } from './syntax/parse.ts'
import { typeOf, Undefined } from './values/objects.ts'
import { text } from './values/text.ts'

/** Loads the templates that others name, each of them once. */
export class TemplateLoader {
  readonly #environment: Environment
  readonly #loaded = new Map<string, Template>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** `from` is the name of the template that asks. Undefined if there is no such template. @throws TemplateError if it is wrong */
  async find(name: unknown, from: string | undefined): Promise<Template | undefined> {
    if (name instanceof Undefined) name.use()
    if (typeof name !== 'string')
      throw new TemplateError(`a template is named by a text, not '${typeOf(name)}'`)
    const key = JSON.stringify([name, name.startsWith('.') ? from : ''])
    const loaded = this.#loaded.get(key)
    if (loaded) return loaded
    const source = await this.#environment.load(name, from)
    if (source === undefined) return undefined
    const template = parse(source, this.#environment.whiteSpace, name)
    this.#loaded.set(key, template)
    return template
  }

  /** @throws TemplateError also if it is not there */
  async load(name: unknown, from: string | undefined): Promise<Template> {
    const template = await this.find(name, from)
    if (template) return template
    throw notFound(text(name))
  }
}

export const notFound = (name: string): TemplateError =>
  new TemplateError(`the template '${name}' is not there`)
