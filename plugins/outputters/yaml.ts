/** YAML in the layout of PyYAML. `--out-indent`: spaces per level, negative for flow style on few lines. */
import { outputter } from 'salt-ts'
import { YamlWriter } from './_yaml-writer.ts'

export default outputter({
  render(value, { indent }) {
    const flow = typeof indent === 'number' && indent < 0
    const step = typeof indent === 'number' && indent > 1 && indent < 10 ? indent : 2
    return new YamlWriter(step, flow ? 'all' : 'none').document(value)
  },
})
