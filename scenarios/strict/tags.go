package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// Tags reads tags: {project: search, env: prod}.
func Tags(dst **capcli.Tags) Reader {
	return func(d *Decoder, n *yaml.Node) {
		if d.AcceptsMap(n, ".", Text(new(string), capcli.MaxTagValue)) {
			return
		}
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 || len(n.Content) > 2*capcli.MaxTags {
			d.FaultWant(n, fmt.Sprintf("one to %d tags: {project: search, env: prod}", capcli.MaxTags))
			return
		}
		var list []capcli.Tag
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
				d.Fault(key, "want the name of each tag once")
				continue
			}
			seen[key.Value] = true
			t := capcli.Tag{Name: key.Value}
			if why := capcli.CheckTagName(t.Name); why != "" {
				d.Fault(key, "tag %s: %s", capcli.Quoted(t.Name), why)
				continue
			}
			d.Enter(key.Value)
			before := d.FaultCount()
			Text(&t.Value, capcli.MaxTagValue)(d, value)
			if _, cut := capcli.CleanTag(t.Value, capcli.MaxTagValue); cut && d.FaultCount() == before {
				d.Fault(value, "%s has over %d bytes", t.Name, capcli.MaxTagValue)
			}
			d.Leave()
			list = append(list, t)
		}
		*dst = capcli.NewTags(list...)
	}
}
