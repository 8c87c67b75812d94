package prices

import (
	"slices"
	"strings"

	"capcli"
)

// propertyColumns are the columns by which a row states the properties of its term.
var propertyColumns = [...]string{"covers", "guarantees", "fenced"}

// dedicated are the sellers whose terms are machines of their own, rather than a discount on
// machines that are taken as they are needed.
var dedicated = []string{"coreweave", "crusoe", "fluidstack", "lambda", "nebius", "nscale", "runpod", "tensorwave", "together", "voltagepark", "vultr"}

// Properties returns what a commitment on the row's terms does. What the row states counts; else
// its provider decides:
//
//   - a term of a hyperscaler covers, and is not fenced. Google's guarantees too, for committed use
//     of GPUs comes with a reservation. AWS's regional reserved instances, which its prices are of,
//     do not guarantee, and Azure's reservations do not;
//   - a term of a seller of dedicated clusters, and a capacity block of anyone, guarantees and is
//     fenced;
//   - a term of an unknown seller covers, and is not fenced;
//   - a row that says fenced: false covers, unless it says covers: false too.
//
// On demand, spot and per_use have no properties.
func (r *Row) Properties() capcli.Properties {
	if !r.Committed() {
		return capcli.Properties{}
	}
	provider := strings.ToLower(r.Provider)
	out := capcli.Properties{Covers: true, Guarantees: provider == "gcp" || provider == "google"}
	if r.Term == "block" || slices.Contains(dedicated, provider) {
		out = capcli.Properties{Guarantees: true, Fenced: true}
	}
	for i, p := range []*bool{&out.Covers, &out.Guarantees, &out.Fenced} {
		if r.said[i] != "" {
			*p = r.said[i] == "true"
		}
	}
	if r.said[0] == "" && r.said[2] == "false" {
		out.Covers = true
	}
	return out
}

// properties reads the columns of properties.
func (t *rowText) properties(r *Row) {
	for i, column := range propertyColumns {
		s := strings.ToLower(t.cells[column])
		switch {
		case s == "":
		case s != "true" && s != "false":
			t.wrong(column, "%s: want true or false, found %s", column, capcli.Quoted(t.cells[column]))
		case r.Term != "" && !r.Committed():
			t.wrong(column, "%s is of a term such as 1y; leave it out for %s", column, r.Term)
		}
		r.said[i] = s
	}
}

// RowOfKey returns the provider and the term that a key names, for Properties where the price file
// of the key has not been read.
func RowOfKey(key string) *Row {
	parts := strings.Split(key, "/")
	if len(parts) != 4 {
		return nil
	}
	term, _ := NormalTerm(parts[3])
	r := &Row{Provider: parts[0]}
	r.Term, r.Payment, _ = strings.Cut(term, "-")
	return r
}
