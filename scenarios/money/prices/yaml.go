package prices

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli/scenarios/strict"
)

// readYAML reads a price file in YAML.
func readYAML(d *strict.Decoder, p *List, b []byte) {
	root := d.ReadTree(b)
	if root == nil {
		return
	}
	readPrices(d, root, p)
}

// Shape describes a price file in YAML.
func Shape() strict.Shape {
	return strict.Describe(&form, nil, func(d *strict.Decoder, n *yaml.Node) { readPrices(d, n, &List{}) })
}

func readPrices(d *strict.Decoder, root *yaml.Node, p *List) {
	if !d.IsDescribing(root) && (root.Kind != yaml.MappingNode || strict.Child(root, "capcli") == nil && strict.Child(root, "prices") == nil) {
		d.Fault(root, "this is no price file: it begins with capcli: %s and has a list called prices", version)
		return
	}
	var currency string
	o := d.ReadObject(root, "the top level", []strict.Field{
		{"capcli", "the form of this file: " + version, strict.Version},
		{"currency", "USD", strict.Choice(&currency, "currency", "USD")},
		{"prices", "the prices", readList(p)},
	})
	o.RequireVersion("file")
	o.RequireWith("prices", "prices is missing; give at least one, such as - {provider: gcp, region: us-central1, machine: a3-highgpu-8g, gpu: H100, gpus: 8, term: 1y, usd_per_hour: 61.38, date: 2026-07-30, source: contract}")
}

func readList(p *List) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			d.Fault(n, "prices is empty; give at least one")
		}
		d.ReadList(n, maxRows, "prices", func(_ int, n *yaml.Node) {
			t := rowText{cells: map[string]string{}, line: n.Line}
			var fields []strict.Field
			for _, c := range columnTable {
				fields = append(fields, strict.Field{c.Name, c.Doc, func(d *strict.Decoder, n *yaml.Node) {
					if s, ok := d.ReadScalar(n, "a value"); ok {
						t.cells[c.Name] = strings.TrimSpace(s)
					}
				}})
			}
			before := d.FaultCount()
			o := d.ReadObject(n, "prices", fields)
			if o == nil || d.FaultCount() > before {
				return
			}
			t.fault = func(column, format string, args ...any) { o.Fault(column, format, args...) }
			if row, ok := t.row(); ok {
				p.rows = append(p.rows, row)
			}
		})
	}
}
