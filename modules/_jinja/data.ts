import type { Environment } from './environment.ts'
import { TemplateError } from './errors.ts'
import type { Format } from './syntax/nodes.ts'

/** Parse what a template gives, or names, as data. @throws TemplateError */
export async function parsedData(text: string, format: Format, environment: Environment): Promise<unknown> {
  try {
    return await environment.parseData(text, format)
  } catch (cause) {
    throw new TemplateError(`the text is no valid ${format}: ${(cause as Error).message}`, { cause })
  }
}
