package scenarios

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// pricesYAML reads a price file in YAML.
func (d *decoder) pricesYAML(p *Prices, b []byte) {
	root := d.readTree(b)
	if root == nil {
		return
	}
	if root.Kind != yaml.MappingNode || child(root, "capcli") == nil && child(root, "prices") == nil {
		d.at(root, "this is no price file: it begins with capcli: %s and has a list called prices", pricesVersion)
		return
	}
	var currency string
	o := d.object(root, "the top level", []field{
		{"capcli", "the form of this file: " + pricesVersion, version1},
		{"currency", "USD", choice(&currency, "currency", "USD")},
		{"prices", "the prices", d.priceList(p)},
	})
	if !o.has("capcli") {
		o.missing("capcli", "the line capcli: %s is missing; it says which form of file this is", pricesVersion)
	}
	if !o.has("prices") {
		o.missing("prices", "prices is missing; give at least one, such as - {provider: gcp, region: us-central1, machine: a3-highgpu-8g, gpu: H100, gpus: 8, term: 1y, usd_per_hour: 61.38, date: 2026-07-30, source: contract}")
	}
}

func (d *decoder) priceList(p *Prices) reader {
	return func(d *decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			d.at(n, "prices is empty; give at least one")
		}
		d.list(n, maxPrices, "prices", func(_ int, n *yaml.Node) {
			t := priceText{cells: map[string]string{}, line: n.Line}
			var fields []field
			for _, c := range priceColumns {
				fields = append(fields, field{c.Name, c.Doc, func(d *decoder, n *yaml.Node) {
					if s, ok := d.scalar(n, "a value"); ok {
						t.cells[c.Name] = strings.TrimSpace(s)
					}
				}})
			}
			before := d.count()
			o := d.object(n, "prices", fields)
			if o == nil || d.count() > before {
				return
			}
			t.fault = func(column, format string, args ...any) { o.on(column, format, args...) }
			if row, ok := t.row(); ok {
				p.rows = append(p.rows, row)
			}
		})
	}
}
