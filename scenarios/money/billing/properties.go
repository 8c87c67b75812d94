package billing

import (
	"fmt"
	"strings"

	"capcli"
)

// Properties returns what the commitment does: whether it covers, guarantees, and is fenced.
func (c *Commitment) Properties() capcli.Properties { return c.Product.properties(c) }

// productRow is a product's row in the table of properties.
type productRow struct {
	product string
	capcli.Properties
	unless string // when a commitment of the product differs from the row; "" is never
}

// productTable returns the row of each product of Products, in order of name. A row has the
// properties of the product without options; unless names the option that changes them.
func productTable() []productRow {
	var out []productRow
	for _, e := range Products.All() {
		row := productRow{product: e.Name, Properties: e.Value.Properties()}
		if p, has := e.Value.Product.(optional); has {
			row.unless = p.unless()
		}
		out = append(out, row)
	}
	return out
}

// optional is a product with an option that changes its properties.
type optional interface{ unless() string }

// ProductText returns the table of properties as text.
func ProductText() string {
	var b strings.Builder
	word := map[bool]string{true: "yes", false: "no"}
	line := func(cells ...string) {
		text := fmt.Sprintf("  %-21s %-7s %-11s %-7s %s", cells[0], cells[1], cells[2], cells[3], cells[4])
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	line("product", "covers", "guarantees", "fenced", "")
	for _, r := range productTable() {
		line(r.product, word[r.Covers], word[r.Guarantees], word[r.Fenced], r.unless)
	}
	return b.String()
}
