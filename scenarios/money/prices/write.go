package prices

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// cells returns the row in the columns of a price file, in the order of columnTable.
func (r *Row) cells() []string {
	free, per := "", r.PerGPU().Decimal()
	if r.Free {
		free = "true"
	}
	return append([]string{
		r.Provider, r.Region, r.Machine, r.GPU, strconv.Itoa(r.GPUs), r.Term, r.Payment, r.Hourly.Decimal(), per, free, "USD", r.Date.Date(), r.Source,
	}, r.said[:]...)
}

// width returns the number of columns to write: those of properties only where a row states one.
func (p *List) width() int {
	if slices.ContainsFunc(p.rows, func(r Row) bool { return strings.Join(r.said[:], "") != "" }) {
		return len(columnTable)
	}
	return len(columnTable) - len(propertyColumns)
}

// WriteCSV writes the prices as a price file in CSV, which Parse reads. guard escapes a cell that a
// spreadsheet would take for a formula.
func (p *List) WriteCSV(w io.Writer, guard func(string) string) error {
	out := csv.NewWriter(w)
	width := p.width()
	if err := out.Write(columnNames()[:width]); err != nil {
		return err
	}
	for i := range p.rows {
		cells := p.rows[i].cells()[:width]
		for k := range cells {
			cells[k] = guard(cells[k])
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteYAML writes the prices as a price file in YAML, which Parse reads.
func (p *List) WriteYAML(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "capcli: %s\ncurrency: USD\nprices:\n", version)
	for i := range p.rows {
		n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for k, c := range p.rows[i].cells() {
			name := columnTable[k].Name
			if c == "" || name == "currency" || name == "usd_per_gpu_hour" {
				continue
			}
			value := &yaml.Node{}
			value.SetString(c)
			switch name {
			case "gpus", "usd_per_hour", "free", "date", "covers", "guarantees", "fenced":
				value.Tag = ""
			}
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
		}
		line, err := yaml.Marshal(n)
		if err != nil {
			return fmt.Errorf("write price %s: %w", p.rows[i].Key(), err)
		}
		b.WriteString("  - " + strings.Join(strings.Fields(string(line)), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
